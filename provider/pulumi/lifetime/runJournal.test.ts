import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, win32 } from "node:path";
import { isLeft, nameOfRun, nameOfWriter, startOf } from "./runFolder.ts";
import { RunJournal, type JournalEntry, type Write } from "./runJournal.ts";

let state: string;
let runs: string;
let journals: RunJournal[];
const { XDG_STATE_HOME } = process.env;
beforeEach(() => {
  journals = [];
  state = mkdtempSync(join(tmpdir(), "microapps-runs-"));
  process.env["XDG_STATE_HOME"] = state;
  runs = join(state, "pulumi-microapps/runs");
});
afterEach(() => {
  for (const journal of journals) journal.close();
  if (XDG_STATE_HOME === undefined) delete process.env["XDG_STATE_HOME"];
  else process.env["XDG_STATE_HOME"] = XDG_STATE_HOME;
  rmSync(state, { recursive: true, force: true });
});

const opened = (engine: string | undefined, write?: Write): RunJournal => {
  const journal = new RunJournal(engine, write);
  journals.push(journal);
  return journal;
};
const entry = (method: string): JournalEntry => ({ platform: "p", object: "o", method, with: ["ä", { deep: [1] }] });
const methods = (journal: RunJournal): string[] => journal.hear().map(({ method }) => method);
/** The folder of the only run. */
const folder = (): string => join(runs, readdirSync(runs)[0] ?? "");
const files = (): string[] => readdirSync(folder()).map((name) => join(folder(), name));

test("each hears what the others of its run have noted, once and in order", () => {
  const [one, two, other] = [opened("here:1"), opened("here:1"), opened("here:2")];
  for (const journal of [one, two, other]) expect(journal.hear()).toEqual([]);
  one.note(entry("a"));
  one.note(entry("b"));
  two.note(entry("c"));
  other.note(entry("d"));
  expect(two.hear()).toEqual([entry("a"), entry("b")]);
  one.note(entry("e"));
  expect([methods(two), methods(two)]).toEqual([["e"], []]);
  expect(methods(one)).toEqual(["c"]);
  expect(methods(other)).toEqual([]);
  expect(statSync(runs).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(runs)) expect(statSync(join(runs, name)).mode & 0o777).toBe(0o700);
  for (const file of files()) expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("one that comes after the folder was listed is heard, however old the folder's time is", () => {
  const [one, two, three] = [opened("here:1"), opened("here:1"), opened("here:1")];
  one.hear();
  utimesSync(folder(), 1.5, 1.5); // the folder has been left alone for long
  expect(methods(one)).toEqual([]);
  two.note(entry("a"));
  expect(methods(one)).toEqual(["a"]);
  three.note(entry("b"));
  expect(methods(one)).toEqual(["b"]);
});

test("without an engine nothing is told, and nothing is made", () => {
  const journal = opened(undefined);
  journal.note(entry("a"));
  expect(journal.hear()).toEqual([]);
  expect(readdirSync(state)).toEqual([]);
});

test("paths may be of any length", () => {
  process.env["XDG_STATE_HOME"] = join(state, ...Array.from({ length: 10 }, () => "long".repeat(30)));
  const [one, two] = [opened("here:1"), opened("here:1")];
  one.note(entry("a"));
  expect(methods(two)).toEqual(["a"]);
});

test("a line that is being written is heard once it is whole", () => {
  const [one, two] = [opened("here:1"), opened("here:1")];
  one.note(entry("a"));
  const [file = ""] = files();
  const line = readFileSync(file, "utf8");
  expect(methods(two)).toEqual(["a"]);
  appendFileSync(file, line.slice(0, 5));
  expect(methods(two)).toEqual([]);
  appendFileSync(file, line.slice(5));
  expect(methods(two)).toEqual(["a"]);
});

describe("what can't be written or read is refused, with the folder and the reason:", () => {
  const refused = (reason: string, at = runs): string =>
    `nothing was sent: the notes of this run can't be kept in ${at}: ${reason}`;

  test("a folder that others reach, a link, a file in its place", () => {
    const cases: [string, () => void][] = [
      ["other users", () => mkdirSync(runs, { recursive: true, mode: 0o755 })],
      ["is no folder", () => {
        mkdirSync(join(state, "theirs"), { mode: 0o700 });
        mkdirSync(join(runs, ".."), { recursive: true });
        symlinkSync(join(state, "theirs"), runs);
      }],
      ["file", () => {
        mkdirSync(join(runs, ".."), { recursive: true });
        writeFileSync(runs, "");
      }],
      ["other users may write to", () => {
        mkdirSync(runs, { recursive: true, mode: 0o700 });
        chmodSync(join(runs, ".."), 0o777);
      }],
      ["is no folder", () => {
        mkdirSync(join(state, "theirs/runs"), { recursive: true, mode: 0o700 });
        symlinkSync(join(state, "theirs"), join(runs, ".."));
      }],
      ["a part of the path is a file", () => writeFileSync(join(runs, ".."), "")],
    ]; // prettier-ignore
    for (const [reason, prepare] of cases) {
      rmSync(join(runs, ".."), { recursive: true, force: true });
      rmSync(join(state, "theirs"), { recursive: true, force: true });
      prepare();
      const journal = opened("here:1");
      expect(() => journal.hear()).toThrow(refused(""));
      expect(() => journal.hear()).toThrow(reason);
    }
  });

  test("a folder of the run that is another's", () => {
    opened("here:1").hear();
    chmodSync(folder(), 0o755);
    expect(() => opened("here:1").hear()).toThrow(refused(`${folder()} is open to other users`, folder()));
  });

  test.each([0, 7])(
    "a disk that is full after %i bytes of a note: the next call says so, and goes on once there is room",
    (taken) => {
      let isFull = true;
      const full: Write = (descriptor, bytes) => {
        if (!isFull) return writeSync(descriptor, bytes);
        if (taken > 0 && bytes.length > taken * 2) return writeSync(descriptor, bytes.subarray(0, taken));
        throw Object.assign(new Error("write"), { code: "ENOSPC" });
      };
      const [one, two] = [opened("here:1", full), opened("here:1")];
      one.note(entry("a"));
      for (const call of [() => one.hear(), () => one.flush()])
        expect(call).toThrow(refused("the disk is full", folder()));
      one.note(entry("b"));
      expect(methods(two)).toEqual([]);
      isFull = false;
      one.flush();
      expect(methods(two)).toEqual(["a", "b"]);
    },
  );

  test("no free descriptor", () => {
    const journal = new URL("./runJournal.js", import.meta.url).href;
    // Another process notes; this one has heard of it when its descriptors run out, and then it notes more.
    const code = `
      import { openSync } from "node:fs";
      import { RunJournal } from ${JSON.stringify(journal)};
      const [one, two, late] = [0, 1, 2].map(() => new RunJournal("here:1"));
      const entry = { platform: "p", object: "o", method: "m", with: [] };
      one.note(entry);
      console.log(two.hear().length);
      one.note(entry);
      try { for (;;) openSync("/dev/null"); } catch {}
      for (const journal of [two, late]) {
        try { console.log("heard " + journal.hear().length); } catch (error) { console.log(error.message); }
      }`;
    const command = `ulimit -n 64; exec "$0" --input-type=module -e "$1"`;
    const output = execFileSync("sh", ["-c", command, process.execPath, code], { encoding: "utf8" }).split("\n");
    expect(output[0]).toBe("1");
    for (const line of output.slice(1, 3)) expect(line).toMatch(/^nothing was sent: .* no file descriptor left/);
  });

  test("notes that are gone, cut short, or another's", () => {
    const [one, two] = [opened("here:1"), opened("here:1")];
    one.note(entry("a"));
    expect(methods(two)).toEqual(["a"]);
    const [own] = files().filter((file) => statSync(file).size > 0);
    writeFileSync(own ?? "", "");
    expect(() => two.hear()).toThrow("was cut short");
    appendFileSync(own ?? "", `${JSON.stringify(entry("a"))}\nnonsense\n`);
    expect(() => two.hear()).toThrow("holds what no provider of this version writes");
    writeFileSync(own ?? "", `${JSON.stringify(entry("a"))}\n${JSON.stringify(entry("b"))}\n`);
    chmodSync(own ?? "", 0o644);
    expect(() => two.hear()).toThrow("is open to other users");
    chmodSync(own ?? "", 0o600);
    renameSync(own ?? "", join(state, "moved"));
    expect(() => one.hear()).toThrow("they were removed while it ran");
    symlinkSync(join(state, "moved"), own ?? "");
    expect(() => two.hear()).toThrow("a symbolic link stands in its place");
  });
});

test("the last one of a run removes its folder", () => {
  const [one, two] = [opened("here:1"), opened("here:1")];
  one.hear();
  two.note(entry("a"));
  one.close();
  expect(files()).toHaveLength(1);
  two.close();
  expect(readdirSync(runs)).toEqual([]);
});

test("what killed runs left is removed by the next one, and what others still write is not", () => {
  const alive = opened("here:1");
  alive.note(entry("a"));
  const [, startTime = "", machine = ""] = nameOfWriter().split("-");
  const left = join(runs, "0".repeat(16));
  const another = join(runs, "1".repeat(16));
  for (const path of [left, another]) mkdirSync(path, { mode: 0o700 });
  writeFileSync(join(left, `${process.pid}-${startTime}1-${machine}-00000000.ndjson`), "secret"); // born at another time
  writeFileSync(join(left, `4194305-${startTime}-${machine}-00000000.ndjson`), "secret"); // no process has this number
  writeFileSync(join(another, `4194305-${startTime}-00000000-00000000.ndjson`), ""); // a container's with the same folder
  writeFileSync(join(runs, "abc-1-d"), "");
  utimesSync(join(runs, "abc-1-d"), 1, 1);
  opened("here:2").hear();
  const rest = readdirSync(runs);
  expect(rest).toHaveLength(3);
  expect(rest).not.toContain("0".repeat(16));
  expect(rest).toContain("1".repeat(16));
  expect(methods(opened("here:1"))).toEqual(["a"]);
});

test("a name is allowed on every system, and the same for all of a run", () => {
  for (const engine of [
    "127.0.0.1:5000",
    "[::1]:5000",
    "\\\\.\\pipe\\engine",
    "C:\\engine",
    "host:5000/../..",
    "con",
    "",
  ]) {
    const name = nameOfRun(engine, "");
    expect(name).toMatch(/^[0-9a-f]{16}$/);
    expect(nameOfRun(engine, "")).toBe(name);
    expect(nameOfRun(engine, "1")).not.toBe(name);
    const path = win32.join("C:\\Users\\Ada Lovelace\\.local\\state", "pulumi-microapps\\runs", name, nameOfWriter(7));
    expect(win32.basename(win32.dirname(path))).toBe(name);
    expect(win32.basename(path)).toMatch(/^7-[0-9]+-[0-9a-f]{8}-[0-9a-f]{8}\.ndjson$/);
  }
});

test("an engine that begins at the address of an earlier one has another run", async () => {
  const begun = async (port: number): Promise<{ address: string; start: string }> => {
    const server = createServer().listen(port, "127.0.0.1");
    await once(server, "listening");
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const start = startOf(address);
    expect(startOf(address)).toBe(start);
    server.close();
    await once(server, "close");
    return { address, start };
  };
  const first = await begun(0);
  const second = await begun(Number(first.address.split(":")[1]));
  if (process.platform === "linux") expect(second.start).not.toBe(first.start);
  expect(startOf("nothing")).toBe("");
  const busy = (): string => {
    throw Object.assign(new Error("open"), { code: "EMFILE" });
  };
  if (process.platform === "linux") expect(() => startOf(first.address, busy)).toThrow("open");
});

test("a writer of this machine is left by its end, another's by a day without a note", () => {
  const own = nameOfWriter();
  expect(isLeft(own, 0, Date.now())).toBe(false);
  const other = own.replace(/^(\d+-\d+-)[0-9a-f]{8}/, "$1ffffffff");
  expect(isLeft(other, 0, 86_400_000)).toBe(false);
  expect(isLeft(other, 0, 86_400_001)).toBe(true);
});
