import type { Declaration } from "./declaration.ts";

/** The files with rows and people that a declaration names. */
export const listSources = ({ seeds, organizations }: Pick<Declaration, "seeds" | "organizations">): string[] =>
  [
    ...Object.values(seeds).map(({ source }) => source),
    ...Object.values(organizations)
      .flatMap(({ teams = {} }) => Object.values(teams))
      .map(({ roster }) => roster?.source),
  ].flatMap((source) => source ?? []);
