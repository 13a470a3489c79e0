import { expect, test } from "@jest/globals";
import { appUrn, events, log, shown, stackUrn, teamUrn } from "./testing/events.ts";
import { destruction, drift, failingUpdate, firstPreview, replacing } from "./testing/runs.ts";

// The texts follow what the Pulumi CLI prints of such runs.
test("a preview as a log", () => {
  expect(shown(firstPreview)).toBe(`Previewing update (dev):

 +  pulumi:pulumi:Stack crew-dev create
 +  pulumi:pulumi:Stack crew-dev create hello
 +  microapps:index:Group core create
 +  pulumi-nodejs:dynamic/microapps:Team core-team create
 ~  pulumi-nodejs:dynamic/microapps:App web update [diff: +token-gone~name,tags,teamId]
 +  pulumi:pulumi:Stack crew-dev create 1 message
Diagnostics:
  pulumi:pulumi:Stack (crew-dev):
    hello

Outputs:
    list  : [
        [0]: 1
        [1]: {
            a: "x"
        }
    ]
    teamId: output<string>

Resources:
    + 3 to create
    ~ 1 to update
    4 changes

`);
});

test("an update with a failure as a log", () => {
  expect(shown(failingUpdate)).toBe(`Updating (dev):

    pulumi:pulumi:Stack crew-dev running one
    pulumi:pulumi:Stack crew-dev running two
 +  pulumi-nodejs:dynamic/microapps:Team core-team creating (0s)
 @  pulumi-nodejs:dynamic/microapps:Team core-team creating (0s) waiting for the team
 +  pulumi-nodejs:dynamic/microapps:Team core-team created (0.21s)
 ~  pulumi-nodejs:dynamic/microapps:App web updating (0s) [diff: +token-gone~name,tags,teamId]
 ~  pulumi-nodejs:dynamic/microapps:App web updating (0s) warning: slow platform
 ~  pulumi-nodejs:dynamic/microapps:App web **updating failed** [diff: +token-gone~name,tags,teamId]
 ~  pulumi-nodejs:dynamic/microapps:App web **updating failed** error: PUT /apps/app-1: 409 conflict
    pulumi:pulumi:Stack crew-dev running error: update failed
    pulumi:pulumi:Stack crew-dev **failed** 1 error; 2 messages
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

test("a refresh that finds drift as a log", () => {
  expect(shown(drift)).toBe(`Refreshing (dev):

 ~  pulumi:pulumi:Stack crew-dev refreshing (0s)
 ~  pulumi-nodejs:dynamic/microapps:Team core-team refreshing (0s)
 ~  pulumi-nodejs:dynamic/microapps:App web refreshing (0s)
 ~  pulumi-nodejs:dynamic/microapps:App web updated (3s) [diff: ~size]
    pulumi:pulumi:Stack crew-dev
Outputs:
    size: 1

Resources:
    ~ 1 updated
    2 unchanged

Duration: 3s

`);
});

test("a destroy as a log", () => {
  expect(shown(destruction)).toBe(`Destroying (dev):

 -  pulumi-nodejs:dynamic/microapps:Team core-team deleting (0s)
 -  pulumi-nodejs:dynamic/microapps:Team core-team deleted (0.21s)
 -  microapps:index:Group core deleting (0s)
 -  microapps:index:Group core deleted (0.21s)
 -  pulumi:pulumi:Stack crew-dev deleting (0s)
 -  pulumi:pulumi:Stack crew-dev deleted (0.21s)
Outputs:
  - teamId: "team-1"

Resources:
    - 3 deleted

Duration: 1m2s

`);
});

test("a replacement is several lines of a log", () => {
  expect(shown(replacing(events(false)))).toBe(`Updating (dev):

 ++ pulumi-nodejs:dynamic/microapps:App web creating replacement (0s) [diff: ~kind]
 ++ pulumi-nodejs:dynamic/microapps:App web created replacement (0.21s) [diff: ~kind]
 +- pulumi-nodejs:dynamic/microapps:App web replacing (0s) [diff: ~kind]
 +- pulumi-nodejs:dynamic/microapps:App web replaced (0.21s) [diff: ~kind]
 -- pulumi-nodejs:dynamic/microapps:App web deleting original (0s) [diff: ~kind]
 -- pulumi-nodejs:dynamic/microapps:App web deleted original (0.21s) [diff: ~kind]
    pulumi:pulumi:Stack crew-dev
Resources:
    +-1 replaced
    3 unchanged

Duration: 3s

`);
});

test("internal steps are not shown", () => {
  const { start, step, done, summary } = events(false);
  const all = [
    start(),
    step("create", "app", { internal: true }),
    done("create", "app", { internal: true }),
    summary(),
  ];
  for (const options of [{}, { diff: true }, { interactive: true }]) expect(shown(all, options)).not.toContain("App");
});

test("what is said outside of a run is printed at once, and a run without an end keeps what it said", () => {
  const { start, step } = events(false);
  expect(shown([log("error", "no stack selected")])).toBe("error: no stack selected\n");
  expect(shown([start(), step("create", "app"), log("error", "broken", stackUrn)])).toBe(`Updating (dev):

 +  pulumi-nodejs:dynamic/microapps:App web creating (0s)
    pulumi:pulumi:Stack crew-dev running error: broken
    pulumi:pulumi:Stack crew-dev **failed** 1 error
 +  pulumi-nodejs:dynamic/microapps:App web creating (interrupted)
Diagnostics:
  pulumi:pulumi:Stack (crew-dev):
    error: broken

`);
});

test("with --json each event is one line and nothing else is printed", () => {
  const all = [...firstPreview, log("info", "two\nlines \u009b\u2028\u202e\u{e0041} and \u001b[2J")];
  const text = shown(all, { form: "events" });
  expect(text).not.toMatch(/[^\n -~]/);
  const lines = text.split("\n");
  expect(lines.pop()).toBe("");
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual(all);
});

test("what a resource tells stands once in a log, after the resource's line; of several lines all are under Diagnostics", () => {
  const { start, step, done, summary } = events(true);
  const all = [
    start(),
    step("same", "stack"),
    log("info", "rows: 2 to add", teamUrn),
    log("info", "never planned", appUrn),
    step("create", "team"),
    log("info", "two\nlines", teamUrn),
    done("create", "team"),
    log("info", "later", teamUrn),
    done("same", "stack"),
    summary({ changes: { create: 1 } }),
  ];
  expect(shown(all)).toBe(`Previewing update (dev):

 +  pulumi-nodejs:dynamic/microapps:Team core-team create
 +  pulumi-nodejs:dynamic/microapps:Team core-team create rows: 2 to add
 +  pulumi-nodejs:dynamic/microapps:Team core-team create two
    pulumi:pulumi:Stack crew-dev
Diagnostics:
  pulumi-nodejs:dynamic/microapps:Team (core-team):
    two
    lines
    later

  pulumi-nodejs:dynamic/microapps:App (web):
    never planned

Resources:
    + 1 to create

`);
});
