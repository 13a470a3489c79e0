/** A table whose rows are referred to, and the label by which. */
export interface LinkedTable {
  table: string;
  key: string;
}

/** The inputs of a seed that lead to rows of other tables. */
export interface LinkDeclaration {
  references?: Readonly<Record<string, LinkedTable>> | undefined;
  parent?: (LinkedTable & { by: string }) | undefined;
}

/** All links of a seed, by the label that holds the key; the parent's is among them. */
export const linksOf = ({ references = {}, parent }: LinkDeclaration) => [
  ...Object.entries(references).map(([label, { table, key }]) => ({ label, table, key, property: "references" })),
  ...(parent ? [{ label: parent.by, table: parent.table, key: parent.key, property: "parent" }] : []),
];
