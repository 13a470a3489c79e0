import { expect, test } from "@jest/globals";
import type { EngineEvent, StepInfo } from "../events.ts";
import { events, log, shown, stackUrn } from "./testing/events.ts";

const type = (name: string): string => `pulumi-nodejs:dynamic/microapps:${name}`;
const resource = (name: string, of: string, parent: string): Partial<StepInfo> => ({
  urn: `urn:pulumi:dev::crew::${of}::${name}`,
  resourceType: of,
  name,
  parent,
  provider: "urn:pulumi:dev::crew::pulumi:providers:pulumi-nodejs::default::p1",
});
const environment = resource("environment", "microapps:index:Environment", stackUrn);
const acme = resource("environment/acme", type("Organization"), environment.urn ?? "");
const crew = resource("environment/acme/crew", type("Team"), acme.urn ?? "");
const ada = resource("environment/acme/crew/ada@example.com", type("TeamMember"), crew.urn ?? "");
const regions = resource("environment/regions", type("SeedRows"), environment.urn ?? "");

/** An Environment as the tour has it: a team is renamed, a member is new, rows change. */
function run(preview: boolean): EngineEvent[] {
  const { start, step, done, summary } = events(preview);
  const renamed = { changes: [{ path: "name", kind: "update" as const, old: "Crew", new: "Core" }] };
  const rows = { changes: [{ path: 'rows["AT"].Name', kind: "update" as const, old: "Austira", new: "Austria" }] };
  return [
    start(),
    step("same", "stack"),
    step("same", "team", environment),
    step("same", "team", acme),
    step("update", "team", { ...crew, ...renamed }),
    step("create", "team", ada),
    step("update", "team", { ...regions, ...rows }),
    done("update", "team", { ...crew, ...renamed }),
    done("create", "team", ada),
    done("update", "team", { ...regions, ...rows }),
    log("info", 'regions.csv: 1 to change ("AT"), 8 unchanged', regions.urn),
    summary({ changes: { same: 2, update: 2, create: 1 } }),
  ];
}
const table = (preview: boolean, width: number): string =>
  shown(run(preview), { interactive: true, suppressProgress: true, width: () => width, now: () => 0 })
    .replaceAll(new RegExp(`${String.fromCharCode(0x1b)}\\[[?\\d;]*[A-Za-z]|\\r`, "g"), "")
    .split("\n\n")[0] ?? "";

test("80 columns: the package of types and the counts of messages go, then names give way, plan and info are seen", () => {
  expect(table(true, 80)).toBe(`Previewing update (dev):
     Type                    Name                         Plan    Info
     Stack                   crew-dev
     └─ Environment          environment
        ├─ Organization      environment/acme
 ~      │  └─ Team           environment/acme/crew        update  [diff: ~name]
 +      │     └─ TeamMember  …/acme/crew/ada@example.com  create
 ~      └─ SeedRows          environment/regions          update  [diff: ~rows]`);
});

test("100 columns: names give way at their beginning", () => {
  expect(table(true, 100)).toBe(`Previewing update (dev):
     Type                              Name                     Plan       Info
     pulumi:pulumi:Stack               crew-dev
     └─ microapps:Environment          environment
        ├─ microapps:Organization      environment/acme
 ~      │  └─ microapps:Team           environment/acme/crew    update     [diff: ~name]
 +      │     └─ microapps:TeamMember  …e/crew/ada@example.com  create
 ~      └─ microapps:SeedRows          environment/regions      update     [diff: ~rows]; 1 message`);
});

test("140 columns: everything", () => {
  expect(table(false, 140)).toBe(`Updating (dev):
     Type                              Name                                   Status              Info
     pulumi:pulumi:Stack               crew-dev
     └─ microapps:Environment          environment
        ├─ microapps:Organization      environment/acme
 ~      │  └─ microapps:Team           environment/acme/crew                  updated (0.21s)     [diff: ~name]
 +      │     └─ microapps:TeamMember  environment/acme/crew/ada@example.com  created (0.21s)
 ~      └─ microapps:SeedRows          environment/regions                    updated (0.21s)     [diff: ~rows]; 1 message`);
});

test("one failure that many resources meet is said once, with how many", () => {
  const { start, step, failed, summary } = events(false, "refresh");
  const many = Array.from({ length: 122 }, (_, i) => ({ ...resource(`team-${i}`, type("Team"), stackUrn) }));
  const text = "login: Login failed.";
  const all = [
    start(),
    ...many.flatMap((each) => [
      step("refresh", "team", each),
      { ...failed("refresh", "team"), ...each } as EngineEvent, // one of another resource
      log("error", text, each.urn),
    ]),
    summary({ result: "failed" }),
  ];
  const log80 = shown(all);
  expect(log80.match(/Login failed/g)).toHaveLength(2);
  expect(log80).toContain(`Diagnostics:
  pulumi-nodejs:dynamic/microapps:Team (team-0):
    error: login: Login failed. (and 121 more resources)

Resources:`);
  expect(shown(all, { interactive: true }).match(/Login failed\. \(and 121 more/g)).toHaveLength(1);
});

test("no line is wider than the terminal, at any width", () => {
  for (const width of [20, 40, 60, 80, 100, 140]) {
    for (const line of table(true, width).split("\n").slice(1)) expect(line.length).toBeLessThan(width);
  }
});

test("a message on a terminal is broken between its words, and in a log nowhere", () => {
  const message = "members: 1 to add (katherine@example.com), 1 to give another role (kay@example.com), 1 unchanged";
  const all = [events(true).start(), log("info", message, crew.urn), events(true).summary()];
  expect(shown(all, { interactive: true, suppressProgress: true, width: () => 60 })).toContain(`
    members: 1 to add (katherine@example.com), 1 to give
    another role (kay@example.com), 1 unchanged

`);
  expect(shown(all)).toContain(`\n    ${message}\n`);
});
