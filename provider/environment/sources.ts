import type { Declaration } from "./declaration.ts";

/** A file that an Environment names for rows or people. */
export interface NamedSource {
  source: string;
  /** True if nobody may read its values. */
  isSecret: boolean;
}

/** The files with rows and people that a declaration names. */
export const listSources = ({ seeds, organizations }: Pick<Declaration, "seeds" | "organizations">): NamedSource[] => [
  ...Object.values(seeds).flatMap(({ source, sensitive = false }) =>
    source === undefined ? [] : [{ source, isSecret: sensitive }],
  ),
  ...Object.values(organizations)
    .flatMap(({ teams = {} }) => Object.values(teams))
    .flatMap(({ roster }) => (roster?.source === undefined ? [] : [{ source: roster.source, isSecret: false }])),
];
