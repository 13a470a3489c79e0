import { afterAll, beforeAll, expect, test } from "@jest/globals";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import resourceService from "@pulumi/pulumi/proto/resource_grpc_pb.js";
import resourceProto from "@pulumi/pulumi/proto/resource_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fromStruct } from "../../engine/values/structs.ts";
import { keepingNames } from "../../machine/structs.ts";
import { createClient } from "../../platform/client/index.ts";
import { plugin } from "../harness/kinds.ts";
import { Stage } from "../harness/stage.ts";
import { Monitor } from "../plugin/monitor.ts";
import { hostile } from "./hostile.ts";

// Names that JavaScript has for itself are ordinary words or are refused, and none is a path: whoever writes a program in YAML
// decides on everything that an engine sends, and a platform on the IDs that it gives.

const { Struct } = structProto;
type Of<Name extends keyof typeof providerProto> = InstanceType<
  Extract<(typeof providerProto)[Name], new () => unknown>
>;
type Request = Of<"ConstructRequest">;

const signature = "4dabf18193072939515e22adb298388d";
const secret = (value: unknown): object => ({ [signature]: "1b47061264138c4ac30d75fd1eb44270", value });
const asset = { [signature]: "c44067f5952c0a294b673a41bacd8c17", path: "/etc/passwd" };
/** Stands for a name that the maps of protobuf lose; the bytes of a message get that. */
const proto = "__PROTO__";

let monitor: Monitor;
let stage: Stage;
beforeAll(async () => {
  monitor = await new Monitor().listen();
  stage = await Stage.set({}, {}, plugin);
  writeFileSync(join(stage.host.folder, "acme.yaml"), "organizations: { acme: { name: Acme } }\n");
  const row = "{ Code: x, constructor: y, hasOwnProperty: z }";
  writeFileSync(join(stage.host.folder, "row.yaml"), `seeds: { s: { table: t, key: Code, rows: [${row}] } }\n`);
});
afterAll(async () => {
  monitor.close();
  await stage.clear();
});

const asSent = (bytes: Uint8Array): Uint8Array =>
  Uint8Array.from(Buffer.from(Buffer.from(bytes).toString("latin1").replaceAll(proto, "__proto__"), "latin1"));

/** The failure of a construct, "none" where there was none. */
async function failureOf(inputs: object, more: (request: Request) => unknown = () => undefined): Promise<string> {
  const request = new providerProto.ConstructRequest()
    .setProject("tests")
    .setStack("dev")
    .setMonitorendpoint(monitor.address)
    .setType("microapps:index:Environment")
    .setName("e")
    .setInputs(Struct.fromJavaScript(inputs as Record<string, never>));
  more(request);
  const bytes = request.serializeBinary();
  request.serializeBinary = () => asSent(bytes);
  return stage.host
    .ask((client, done) => client.construct(request, done))
    .then(
      () => "none",
      (error: unknown) => (error as Error).message,
    );
}

const acme = { file: "acme.yaml" };
const many = (count: number, one: unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, one]));

const noName = "no property can have this name; choose another";
const refused: [title: string, inputs: object, says: string][] = [
  ["__proto__ alone", { [proto]: { file: "acme.yaml" } }, `__proto__: ${noName}`],
  ["__proto__ beside a file", { ...acme, [proto]: {} }, `__proto__: ${noName}`],
  ["a path that poses as a text", { file: { toString: "x" } }, `file.toString: ${noName}`],
  ["5,000 inputs", many(5_000, 1), "k0 is not an input of an Environment"],
  ["a key that clears the screen", { ...acme, "\u001b[2J\u202eevil": 1 }, "is not an input of an Environment"],
  ["a declaration", { declaration: { organizations: {} } }, "declaration of an Environment is gone"],
  ["a secret as the path", { file: secret("hush-hush.yaml") }, "file is a secret"],
  ["a file as the path", { file: asset }, "an Environment has a file, by its path as it stands"],
  ["nothing", {}, "an Environment has a file, by its path as it stands"],
  ["a list as the path", { file: ["a"] }, "an Environment has a file, by its path as it stands"],
  ["a path outside", { file: "/etc/passwd" }, "it is outside of the repository"],
  ["a path with NUL", { file: "a\0b" }, "can't be read"],
];

test("what is hostile in a construct is refused by its property, and nothing is registered for it", async () => {
  for (const [title, inputs, says] of refused) {
    monitor.registered.length = 0;
    const failure = await failureOf(inputs);
    expect([title, failure]).toEqual([title, expect.stringContaining(says)]);
    expect(failure).not.toMatch(/hush/);

    expect(failure).not.toMatch(/[\u001b\u202e]/);
    expect([title, monitor.registered.filter((one) => one.getCustom()).length]).toEqual([title, 0]);
  }
  expect(stage.host.printed).toBe("");
});

/** A field of a message: its tag, its length, its bytes. */
function field(tag: number, bytes: Buffer): Buffer {
  const length: number[] = [];
  for (let rest = bytes.length; ; rest >>= 7) {
    length.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) return Buffer.concat([Buffer.from([tag, ...length]), bytes]);
  }
}

/** A struct with a property of 5,000 levels, as bytes. */
function deepStruct(property: string): Buffer {
  let value = Buffer.from([0x20, 1]);
  for (let level = 0; level < 5_000; level++) value = Buffer.from(field(0x32, field(0x0a, value)));
  return field(0x0a, Buffer.concat([field(0x0a, Buffer.from(property)), field(0x12, value)]));
}

test("names of every object, odd providers and a message of 5,000 levels end no plugin", async () => {
  expect(await failureOf({ file: "row.yaml" })).toBe("none");
  const inputs = field(0x52, deepStruct("file"));
  const deep = await failureOf({}, (request) => {
    const bytes = Buffer.concat([request.serializeBinary(), inputs]);
    request.serializeBinary = () => Uint8Array.from(bytes);
  });
  expect(deep).toContain("a property has too many levels to be read; make it flatter");
  // Of other packages nothing is looked at.
  expect(await failureOf(acme, (request) => request.getProvidersMap().set("constructor", "x"))).toBe("none");
  const options = (names: string[]) => failureOf(acme, (request) => request.setIgnorechangesList(names));
  expect(await options([proto])).toContain("ignoreChanges names");
  expect(await failureOf(acme)).toBe("none");
});

test("the embedded engine refuses the name that maps lose, and leaves a text with it as it is", () => {
  const { registerResource } = keepingNames(resourceService.ResourceMonitorService);
  const registered = (object: object) => {
    const request = new resourceProto.RegisterResourceRequest().setObject(
      Struct.fromJavaScript(object as Record<string, never>),
    );
    const bytes = Buffer.from(asSent(request.serializeBinary()));
    return fromStruct(registerResource.requestDeserialize(bytes).getObject());
  };
  expect(() => registered({ a: { b: [{ [proto]: 1 }] } })).toThrow("a.b[0].__proto__: no property can have this name");
  expect(registered({ a: `\n\t${proto}`, b: "__proto__", c: { constructor: 1 } })).toEqual({
    ...{ a: "\n\t__proto__", b: "__proto__", c: { constructor: 1 } },
  });
  const type = Buffer.from(new resourceProto.RegisterResourceRequest().setType("a:b:C").serializeBinary());
  const deep = registerResource.requestDeserialize(Buffer.concat([type, field(0x2a, deepStruct("evil"))]));
  expect(() => deep.getType()).toThrow("a property has too many levels to be read; make it flatter");
});

test("an ID with parts of a path leads no call elsewhere", async () => {
  const evil = "../../admin/delete?x=1#y/../%2e%2e";
  const platform = await hostile();
  const client = createClient({ endpoint: platform.url, token: "t", userId: "u" });
  await client.readteam({ teamID: evil }).catch(() => undefined);
  await client.updateteam({ teamID: evil, teamInfo: { name: "T" } }).catch(() => undefined);
  await client.deleteteam({ teamID: evil }).catch(() => undefined);
  await client.close();
  await platform.close();
  const paths = platform.log.map((text) => text.split("\n")[0]);
  expect(paths.map((path) => path?.replace(/^[A-Z]+ /, ""))).toEqual([
    "/api/readteam",
    "/api/updateteam",
    "/api/deleteteam",
  ]);
});
