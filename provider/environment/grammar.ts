import { hasList, type Grammar, type Path } from "../layers/grammar.ts";
import { environmentFile } from "./schema.ts";

/** What the entries of a map are whose entries have names, by where the map stands. */
const kinds: readonly (readonly [map: string, kind: string])[] = [
  ["organizations", "organization"],
  ["organizations/*/teams", "team"],
  ["organizations/*/teams/*/members", "member"],
  ["organizations/*/teams/*/roster/members", "member"],
  ["seeds", "seed"],
  ["seeds/*/references", "reference"],
  ["apps", "app"],
];
const named = kinds.map(([map, kind]) => ({ steps: map.split("/"), kind }));

const leadsTo = (path: Path, steps: readonly string[]): boolean =>
  path.length === steps.length && steps.every((step, at) => step === "*" || step === path[at]);

/** Where an entry may say which keys it had before. */
const renamable = ["organizations", "organizations/*/teams", "seeds", "apps"].map((map) =>
  `${map}/*/formerly`.split("/"),
);

/** How Environment files that extend each other are merged. */
export const grammar: Grammar = {
  named: (map) => named.find(({ steps }) => leadsTo(map, steps))?.kind,
  hasList: (map, key) => hasList(environmentFile, map, key),
  hasRows: (map) => leadsTo(map, ["seeds", "*"]),
  gathers: (list) => renamable.some((steps) => leadsTo(list, steps)),
};
