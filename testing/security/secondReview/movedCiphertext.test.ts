import { expect, test } from "@jest/globals";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import { here } from "../../harness/inProcessPlugin.ts";
import { Stage } from "../../harness/stage.ts";

// Engines say a plugin what is a secret: a ciphertext that was moved to a key that messages quote is quoted by none.

const secret = (value: unknown) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  value,
});
const struct = (properties: object) => structProto.Struct.fromJavaScript(properties as Record<string, never>); // JSON

test.each(["organizationID", "appServer", "profile"])("a secret under %s is quoted by no call", async (key) => {
  const stage = await Stage.set({}, {}, here);
  try {
    const { id, outputs } = await stage.create("Organization", { name: "Acme" });
    const args = { endpoint: stage.emulator.url, email: "admin@example.com", password: secret("correct-horse") };
    const request = new providerProto.ConfigureRequest().setArgs(struct({ ...args, [key]: secret("our secret") }));
    const said: string[] = [];
    const note = (error: unknown): void => void said.push(String(error));
    await stage.host.ask((client, done) => client.configure(request, done)).catch(note);
    await stage.host.check("Organization", { name: "Acme" }).catch(note);
    await stage.host.read("Organization", id, outputs).catch(note);
    expect(said.join()).toContain(`microapps:${key}`);
    expect([...said, ...stage.host.told, stage.host.printed].join()).not.toContain("our secret");
  } finally {
    await stage.clear();
  }
});
