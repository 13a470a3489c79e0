import { hasList, type Grammar } from "../layers/grammar.ts";
import { leadsTo, namedMaps } from "./namedMaps.ts";
import { environmentFile } from "./schema.ts";

/** Where an entry may say which keys it had before. */
const renamable = namedMaps
  .filter(({ kind }) => ["organization", "team", "seed", "app"].includes(kind))
  .map(({ steps }) => [...steps, "*", "formerly"]);

/** How Environment files that extend each other are merged. */
export const grammar: Grammar = {
  named: (map) => namedMaps.find(({ steps }) => leadsTo(map, steps))?.kind,
  hasList: (map, key) => hasList(environmentFile, map, key),
  hasRows: (map) => leadsTo(map, ["seeds", "*"]),
  gathers: (list) => renamable.some((steps) => leadsTo(list, steps)),
};
