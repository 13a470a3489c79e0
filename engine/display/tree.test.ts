import { expect, test } from "@jest/globals";
import type { EngineEvent } from "../events.ts";
import { events, shown } from "./testing/events.ts";
import { destruction, failingUpdate, replacing } from "./testing/runs.ts";
import { Terminal } from "./testing/terminal.ts";

/** The screen of a terminal after the events. */
function screen(all: readonly EngineEvent[]): string {
  const terminal = new Terminal(120, 40);
  shown(all, { interactive: true, write: terminal.write });
  return terminal.text;
}

test("an update with a failure as a table", () => {
  expect(screen(failingUpdate)).toBe(`Updating (dev):
     Type                  Name       Status                  Info
     pulumi:pulumi:Stack   crew-dev   **failed**              1 error; 2 messages
     ├─ microapps:Group    core
 +   │  └─ microapps:Team  core-team  created (0.21s)
 ~   └─ microapps:App      web        **updating failed**     [diff: +token-gone~name,tags,teamId]; 1 error; 1 warning

Diagnostics:
  pulumi:pulumi:Stack (crew-dev):
    one
    two

    error: update failed

  pulumi-nodejs:dynamic/microapps:App (web):
    warning: slow platform
    second line
    error: PUT /apps/app-1: 409 conflict
    the name is taken

Resources:
    + 1 created
    2 unchanged
    2 errored

Duration: 3s

`);
});

test("a destroy as a table", () => {
  expect(screen(destruction)).toBe(`Destroying (dev):
     Type                  Name       Status
 -   pulumi:pulumi:Stack   crew-dev   deleted (0.21s)
 -   └─ microapps:Group    core       deleted (0.21s)
 -      └─ microapps:Team  core-team  deleted (0.21s)

Outputs:
  - teamId: "team-1"

Resources:
    - 3 deleted

Duration: 1m2s

`);
});

test("the plan of a replacement is one row", () => {
  expect(screen(replacing(events(true)))).toBe(`Previewing update (dev):
     Type                 Name      Plan        Info
     pulumi:pulumi:Stack  crew-dev
 +-  └─ microapps:App     web       replace     [diff: ~kind]

Resources:
    +-1 to replace
    3 unchanged

`);
});

test("a replacement ends as one row", () => {
  expect(screen(replacing(events(false)))).toBe(`Updating (dev):
     Type                 Name      Status               Info
     pulumi:pulumi:Stack  crew-dev
 +-  └─ microapps:App     web       replaced (0.21s)     [diff: ~kind]

Resources:
    +-1 replaced
    3 unchanged

Duration: 3s

`);
});
