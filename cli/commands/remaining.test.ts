import { expect, test } from "@jest/globals";
import { remaining } from "./hosting.ts";

const resource = (type: string, name: string, outputs: Record<string, unknown> = {}) => ({
  ...{ type, urn: `urn:pulumi:dev::crew::${type}::${name}`, id: name },
  outputs,
});

test("a destroy's preview says what no destroy can take back, with both kinds of provider", () => {
  const editLink = "https://apps.example.com/a1";
  expect(
    remaining([
      resource("pulumi-nodejs:dynamic/microapps:Team", "crew"),
      resource("pulumi-nodejs:dynamic/microapps:GeneratedApp", "atlas", { editLink }),
      resource("microapps:index:GeneratedApp", "map"),
      resource("microapps:index:Notification", "hello"),
    ]),
  ).toEqual([
    'the app "atlas" stays on the platform at https://apps.example.com/a1: there is no way to delete an app',
    'the app "map" stays on the platform: there is no way to delete an app',
    "messages that were sent stay sent: hello",
  ]);
  expect(remaining([resource("microapps:index:Team", "crew")])).toEqual([]);
});
