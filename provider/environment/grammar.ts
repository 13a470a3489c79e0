import { hasList, type Grammar } from "../layers/grammar.ts";
import { leadsTo, namedMaps } from "./jsonSchema.ts";
import { environmentFile } from "./schema.ts";

/** Where an entry may name its former keys. */
const renamable = namedMaps
  .filter(({ kind }) => ["organization", "team", "seed", "app"].includes(kind))
  .map(({ steps }) => [...steps, "*", "formerly"]);

/** Lists to which each layer adds: rules hold whatever stands above them. */
const gathered = [...renamable, ["rules"]];

/** How Environment files that extend each other are merged. */
export const grammar: Grammar = {
  named: (map) => namedMaps.find(({ steps }) => leadsTo(map, steps))?.kind,
  hasList: (map, key) => !gathered.some((steps) => leadsTo([...map, key], steps)) && hasList(environmentFile, map, key),
  hasRows: (map) => leadsTo(map, ["seeds", "*"]),
  gathers: (list) => gathered.some((steps) => leadsTo(list, steps)),
};
