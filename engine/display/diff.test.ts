import { expect, test } from "@jest/globals";
import { shown } from "./testing/events.ts";
import { destruction, drift, firstPreview } from "./testing/runs.ts";

test("a preview in detail", () => {
  expect(shown(firstPreview, { diff: true })).toBe(`Previewing update (dev):
+ pulumi:pulumi:Stack: (create)
    [urn=urn:pulumi:dev::crew::pulumi:pulumi:Stack::crew-dev]
    + microapps:index:Group: (create)
        [urn=urn:pulumi:dev::crew::microapps:index:Group::core]
        + pulumi-nodejs:dynamic/microapps:Team: (create)
            [urn=urn:pulumi:dev::crew::microapps:index:Group$pulumi-nodejs:dynamic/microapps:Team::core-team]
            id   : output<string>
            name : "core"
            tags : [
                [0]: "a"
            ]
            token: [secret]
    ~ pulumi-nodejs:dynamic/microapps:App: (update)
        [id=app-1]
        [urn=urn:pulumi:dev::crew::pulumi-nodejs:dynamic/microapps:App::web]
      - gone  : true
      ~ name  : "web" => "site"
      ~ tags  : [
          + [1]: "b"
        ]
      ~ teamId: "team-1" => output<string>
      + token : [secret]
Diagnostics:
  pulumi:pulumi:Stack (crew-dev):
    hello

    --outputs:--
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

test("a refresh that finds drift in detail", () => {
  expect(shown(drift, { diff: true })).toBe(`Refreshing (dev):
  pulumi:pulumi:Stack: (same)
    [urn=urn:pulumi:dev::crew::pulumi:pulumi:Stack::crew-dev]
    ~ pulumi-nodejs:dynamic/microapps:App: (update)
        [id=app-1]
        [urn=urn:pulumi:dev::crew::pulumi-nodejs:dynamic/microapps:App::web]
      ~ size: 1 => 9
    --outputs:--
    size: 1
Resources:
    ~ 1 updated
    2 unchanged

Duration: 3s

`);
});

test("a destroy in detail", () => {
  expect(shown(destruction, { diff: true })).toBe(`Destroying (dev):
- pulumi-nodejs:dynamic/microapps:Team: (delete)
    [id=team-1]
    [urn=urn:pulumi:dev::crew::microapps:index:Group$pulumi-nodejs:dynamic/microapps:Team::core-team]
    name: "core"
    nest: {
        deep: [
            [0]: "x"
        ]
    }
- microapps:index:Group: (delete)
    [urn=urn:pulumi:dev::crew::microapps:index:Group::core]
- pulumi:pulumi:Stack: (delete)
    [urn=urn:pulumi:dev::crew::pulumi:pulumi:Stack::crew-dev]
    --outputs:--
  - teamId: "team-1"
Resources:
    - 3 deleted

Duration: 1m2s

`);
});
