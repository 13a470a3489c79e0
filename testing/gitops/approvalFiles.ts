/** A program that declares dev.yaml; through the plugin its component does it. */
export const programs = {
  dynamic: `import { Environment, Organization } from "pulumi-microapps";
new Environment("environment", { file: "dev.yaml" });
`,
  plugin: `import pulumi from "@pulumi/pulumi";
class Environment extends pulumi.ComponentResource {
  constructor(name, args) { super("microapps:index:Environment", name, args, {}, true); }
}
class Organization extends pulumi.CustomResource {
  constructor(name, args) { super("microapps:index:Organization", name, args); }
}
new Environment("environment", { file: "dev.yaml" });
`,
};
/** The declaration in dev.yaml. */
export const environment = `organizations:
  acme:
    name: Acme
    description: { config: motto }
    teams:
      crew: { name: Crew, members: { ada@example.com: admin, bob@example.com: member } }
      watch:
        name: Watch
        roster: { maxRemovals: 1, members: { bob@example.com: member, ada@example.com: admin, cyd@example.com: member } }
seeds:
  regions: { table: regions, key: Code, source: regions.csv, maxRemovals: 1 }
  offices: { table: offices, key: Code, rows: [{ Code: L, Name: Lisbon }] }
`;
/** The rows in regions.csv. */
export const rows = "Code,Name\nN,North\nS,South\nE,East\n";
