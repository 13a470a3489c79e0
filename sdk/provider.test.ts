import { beforeAll, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { Provider } from "./provider.ts";
import { Organization } from "./resources.ts";
import { mockEngine, registered } from "./testing/mockEngine.ts";

beforeAll(mockEngine);

test("two platforms in one program: a resource goes to the one of its provider", async () => {
  const endpoint = "https://other.example.com";
  const provider = new Provider("other", { endpoint, email: "ada@example.com", password: "pw", readOnly: true });
  const organization = new Organization("acme", { name: "Acme" }, { provider });
  await new Promise((resolve) => void pulumi.all([provider.id, organization.id]).apply(resolve));
  expect(registered.find(({ name }) => name === "other")).toMatchObject({
    type: "pulumi:providers:pulumi-nodejs",
    inputs: {
      "microapps:endpoint": endpoint,
      "microapps:password": expect.objectContaining({ value: "pw" }) as unknown, // marked as a secret
      "microapps:readOnly": true,
      "microapps:explicitProvider": "true",
    },
  });
  expect(registered.find(({ name }) => name === "acme")?.provider).toContain("pulumi:providers:pulumi-nodejs::other::");
});
