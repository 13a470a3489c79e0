/** Keys of the rows in CSV files. */
export const codes = Array.from({ length: 12 }, (_, at) => `C${at}`);
const csv = (end: string): string =>
  ["Code,Name,Size", ...codes.map((code, at) => `${code},"Name, ${code}",${at}`), ""].join(end);

/** Two environments over one file, with rows of their own and of both. */
export const files = {
  "environments.yaml": "dev: { file: dev.yaml }\nprod: { file: prod.yaml }\n",
  "base.yaml": `# what all have
organizations:
  acme:
    name: Acme
    description: one # of all
    teams:
      crew:
        name: Crew
        members:
          ada@example.com: admin # she began it
          bob@example.com: member
      ops:
        name: Ops
        roster:
          minAdmins: 0
          members: { ada@example.com: admin, bob@example.com: member }
seeds:
  shared: { table: shared, key: Code, source: shared.csv, types: { Size: number } }
  own: { table: own, key: Code, types: { Size: number } }
  inline:
    table: inline
    key: Code
    types: { Size: number }
    rows:
      - { Code: A, Name: Ah, Size: 1 } # the first
      - { Code: B, Name: Be, Size: 2 }
`,
  "dev.yaml": `extends: base.yaml
organizations:
  acme:
    teams:
      crew: { members: { eve@example.com: member } }
      desk:
        name: Desk
        roster: { source: desk.csv, team: desk, mode: additive, minAdmins: 0, ignore: ["*.bot@example.com"] }
seeds:
  own:
    source: own.csv # of dev alone
  shared:
    rows~:
      - { Code: C1, Name: "of dev" } # an override
    rows+:
      - { Code: X1, Name: added, Size: 7 }
`,
  "prod.yaml": "extends: base.yaml\nseeds: { own: { source: prod.csv } }\n",
  "shared.csv": csv("\n"),
  "own.csv": csv("\r\n"),
  "prod.csv": csv("\n"),
  "desk.csv": "email,role,team\r\nAda@example.com , admin,desk\r\nbob@example.com,,desk\r\nkay@example.com,,other\r\n",
  ".gitignore": "ignored.yaml\n",
};
