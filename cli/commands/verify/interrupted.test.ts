import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EndpointName } from "../../../provider/contract/endpoints.ts";
import { sampleOf, testInLong } from "../../../testing/harness/drawn.ts";
import { eventually } from "../../../testing/harness/processes.ts";
import { account, Stand } from "./testing/stand.ts";

// A person who presses Ctrl-C, and a machine that loses power: whatever was made is removed, then or by the next run.

const microapps = join(import.meta.dirname, "../microapps.js");

let stand: Stand;
beforeAll(async () => {
  stand = await Stand.open();
  process.env["XDG_STATE_HOME"] = join(stand.folder, "state"); // has the key of the user, of both processes
});
afterAll(() => stand.close());

const files = (): string[] => {
  const folder = join(stand.folder, "cache/pulumi-microapps/verify");
  return readdirSync(folder).map((name) => join(folder, name));
};
const journals = (): string[] => files().map((file) => readFileSync(file, "utf8"));

/** Runs the command in a process, and sends it signals while it waits for the answer to a call that is carried out. */
async function ended(
  signals: NodeJS.Signals[],
  endpoint: EndpointName,
  after = 0,
): Promise<{ status: number | null; errors: string }> {
  stand.emulator.setFaults({ faults: [{ kind: "timeout", endpoint, after, count: 1, commit: true }] });
  const words = ["verify", "--test-bed", "--new", "--bed", "sandbox.yaml"]; // former names of flags
  const env = { ...process.env, ...stand.environment() };
  const child = spawn(process.execPath, ["--no-warnings", microapps, ...words], { cwd: stand.folder, env });
  let errors = "";
  child.stderr.on("data", (part: Buffer) => (errors += part.toString()));
  child.stdout.resume();
  const end = once(child, "close") as Promise<[number | null]>;
  await eventually("the call", () => stand.emulator.faults()[0]?.hit === 1);
  for (const signal of signals) child.kill(signal);
  const [status] = await end;
  stand.emulator.setFaults();
  return { status, errors };
}

const nothingIsLeft = (): void => {
  expect(stand.differences()).toEqual([]);
  expect(journals()).toEqual([]);
};

test("Ctrl-C removes what was made, at once", async () => {
  const { status, errors } = await ended(["SIGINT"], "microappdataRow");
  expect(errors).toContain("Removing what was made; a second Ctrl-C stops at once");
  expect(errors).toContain("error: interrupted: what was made is removed");
  expect(status).toBe(1);
  nothingIsLeft();
});

const kills: readonly [EndpointName, number][] = [
  ["insertmicroapprow", 12],
  ["insertmicroapprows", 3],
  ["insertorganization", 0],
  ["insertteam", 0],
];

test.each(sampleOf(kills, 1))(
  "a run that is killed before %s is answered (%i times it was) is cleaned up by the next",
  async (endpoint, after) => {
    await ended(["SIGKILL"], endpoint, after);
    const left = journals();
    expect(left).toHaveLength(1);
    for (const secret of [account.password, account.apiKey, "@"]) expect(left.join()).not.toContain(secret);
    const { errors } = await stand.verify({ clean: true, new: false, sandboxFile: undefined });
    expect(errors).toMatch(/^Removed what run mv\w+ had left\.$/m);
    nothingIsLeft();
  },
);

testInLong("so is one that a second Ctrl-C stopped, by a run that goes on with its own", async () => {
  const { status } = await ended(["SIGINT", "SIGTERM"], "updatemicroapprow");
  expect(status).toBe(130);
  expect(journals()).toHaveLength(1);
  const { outcome } = await stand.verify({ apps: false });
  expect(outcome).toMatchObject({ status: 0, left: [] });
  nothingIsLeft();
});

testInLong("where no key can be kept no journal is believed: one without seals may be anybody's", async () => {
  await ended(["SIGKILL"], "insertteam");
  const [file = ""] = files();
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replaceAll(/,"seal":"\w+"/g, ""));
  const { XDG_STATE_HOME: state } = process.env;
  process.env["XDG_STATE_HOME"] = file; // no folder
  const { errors } = await stand.verify({ clean: true, new: false, sandboxFile: undefined });
  process.env["XDG_STATE_HOME"] = state;
  expect(errors).toContain("was not written by this user on this machine: nothing that it names is removed");
  expect(stand.differences()).not.toEqual([]);
  writeFileSync(file, text);
  await stand.verify({ clean: true, new: false, sandboxFile: undefined });
  nothingIsLeft();
});

test("a journal that is not as this user of this machine wrote it removes nothing", async () => {
  await ended(["SIGKILL"], "insertteam");
  const [file = ""] = files();
  const text = readFileSync(file, "utf8");
  const elsewhere = join(stand.folder, "elsewhere");
  const forge: (() => void)[] = [
    () => {
      const thing = { kind: "organization", id: stand.organization };
      writeFileSync(file, `${text}${JSON.stringify({ is: "making", number: 99, thing })}\n`);
    },
    () => writeFileSync(file, text.replace(/mv\w{10}/, "")),
    () => renameSync(file, file.replace(/\w+(?=.ndjson$)/, "mv0123456789")),
    () => {
      renameSync(file, elsewhere);
      symlinkSync(elsewhere, file);
    },
  ];
  for (const change of forge) {
    change();
    const { errors } = await stand.verify({ clean: true, new: false, sandboxFile: undefined });
    expect(errors).toContain("was not written by this user on this machine: nothing that it names is removed");
    expect(stand.differences()).not.toEqual([]);
    for (const each of files()) unlinkSync(each);
    writeFileSync(file, text);
  }
  await stand.verify({ clean: true, new: false, sandboxFile: undefined });
  nothingIsLeft();
});
