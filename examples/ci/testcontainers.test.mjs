// The emulator in a container, built from emulator/Dockerfile: node --test testcontainers.test.mjs
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient } from "pulumi-microapps/client";
import { GenericContainer, Wait } from "testcontainers";

const password = "of-this-test";
/** @type {import("testcontainers").StartedTestContainer} */
let container;
before(async () => {
  container = await new GenericContainer("microapps-emulator")
    .withEnvironment({ MICROAPPS_EMULATOR_PASSWORD: password })
    .withCopyFilesToContainer([{ source: "platform.yaml", target: "/platform.yaml" }])
    .withCommand(["--seed", "/platform.yaml"])
    .withExposedPorts(8080)
    .withWaitStrategy(Wait.forHealthCheck())
    .start();
});
after(() => container.stop());

test("a row is there", async () => {
  const endpoint = `http://${container.getHost()}:${container.getMappedPort(8080)}`;
  const client = createClient({ endpoint, email: "admin@example.com", password });
  await client.insertmicroapprow({ microAppID: "countries", rowData: { Code: "CZ" } });
  const { microAppRows } = await client.microappdata({ microAppID: "countries" });
  assert.equal(microAppRows[0]?.["Code"], "CZ");
  await client.close();
});
