import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { ofEdited, parseYamlTree } from "../../cli/between/editor/trees.ts";
import { maxMegabytesOfEdited, readToEdit } from "../../cli/between/editor/writing.ts";
import { deadlineMs, maxMegabytesOfState, textOf as textOfFlag } from "../../cli/commands/report/reporting.ts";
import { parseAccepted } from "../../cli/report/drift.ts";
import { environmentsIn, maxEnvironments } from "../../cli/report/environments.ts";
import { stateOf } from "../../cli/report/state.ts";
import { Repository } from "../../cli/report/testing/repository.ts";
import { maxBytes as maxBytesOfRequest } from "../../emulator/http/server.ts";
import { createEmulator } from "../../emulator/index.ts";
import { parseCheckpoint } from "../../engine/state/checkpoint.ts";
import { readSettings } from "../../engine/workspace/strict.ts";
import { ofSettings } from "../../machine/bounded.ts";
import { BoundError, checkJsonBounds, ofStates } from "../../machine/bounds.ts";
import { maxLevels } from "../../machine/structs.ts";
import { parseReply } from "../../platform/client/http/messages.ts";
import { maxMegabytesOf, Transport } from "../../platform/client/http/transport.ts";
import { answerIn, maxAnswerLevels } from "../../platform/contract/wire.ts";
import { LateError, maxMegabytesOfLayer, maxMegabytesOfRows, readText, until } from "../../provider/files/files.ts";
import { parse, type Problem } from "../../provider/layers/document.ts";
import { readProfile } from "../../provider/layers/layers.ts";
import { csvRecords, maxCharactersOfRecord } from "../../provider/seedRows/source/csv.ts";
import { ofJsonRows, ofYamlRows } from "../../provider/seedRows/source/documents.ts";
import { read } from "../../provider/seedRows/source/read.ts";
import { linesOf as linesOfRows, maxBytesOfLine } from "../../provider/seedRows/source/source.ts";
import { partOf } from "../harness/drawn.ts";
import { repository } from "../harness/project.ts";

// Answers and inputs have bounds: each row of the table in docs/limits.md is what the code has, and what is beyond it is
// refused. Where a limit is large its reader gets a small one here.

let folder: string;
beforeEach(() => void (folder = realpathSync(mkdtempSync(join(tmpdir(), "microapps-limits-")))));
afterEach(() => rmSync(folder, { recursive: true }));

const MB = 2 ** 20;
const small = 1 / 1024; // megabytes
const kilobytes = "x".repeat(3_000);
const count = (number: number): string => number.toLocaleString("en-US");
const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const problemsOf = (text: string): string => {
  const problems: Problem[] = [];
  parse(text, "dev.yaml", (problem) => problems.push(problem));
  return problems.map(({ message }) => message).join();
};
const all = async (items: AsyncIterable<unknown>): Promise<void> => {
  for await (const item of items) expect(item).toBeDefined();
};
/** Writes a file of so many megabytes, which takes no room on the disk. */
function hole(name: string, megabytes: number): string {
  writeFileSync(join(folder, name), "");
  truncateSync(join(folder, name), megabytes * MB + 1);
  return join(folder, name);
}
function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}
const rowsOf = (source: string): Promise<void> => all(read({ source }, folder));
const profile = (text: string): unknown => {
  file("profile.yaml", text);
  return readProfile("profile.yaml", folder);
};

/** The failure of a call whose answer has some kilobytes. */
async function answered(work: (url: string) => Promise<unknown>): Promise<unknown> {
  const server = createServer((_, response) => response.end(kilobytes));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`); // it listens on TCP
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const call = (endpoint: "readorganization" | "insertorganization") =>
  answered(async (url) => {
    const timeouts = { connect: 10_000, headers: 10_000, body: 10_000 };
    const maxMegabytesOf = (effect: string): number => (effect === "read" ? small : small / 2);
    const transport = new Transport(url, { timeouts, connections: 1, readOnly: false, maxMegabytesOf });
    const outgoing = { endpoint, method: "POST", path: `/api/${endpoint}`, headers: {}, body: "{}" } as const;
    try {
      await transport.send(outgoing, new AbortController().signal);
    } finally {
      await transport.close();
    }
  });

/** Announces a request to the emulator that is too large, and sends nothing of it. */
async function announced(): Promise<never> {
  const emulator = await createEmulator();
  try {
    const headers = { "content-length": maxBytesOfRequest + 1, "content-type": "application/json" };
    const status = await new Promise((resolve, reject) => {
      const asked = request(`${emulator.url}/api/login`, { method: "POST", headers }, (response) => {
        resolve(response.statusCode);
        asked.destroy();
      });
      asked.on("error", reject);
      asked.flushHeaders();
    });
    throw new Error(`status ${String(status)}`);
  } finally {
    await emulator.close();
  }
}

type Refusal = [work: () => unknown, says: RegExp];
interface Row {
  cells: [what: string, bytes: string, levels: string, more: string];
  beyond: Refusal[];
}

const { levels, values } = ofSettings;
const layer = `${maxMegabytesOfLayer} MB`;
const settingsBeyond = (readIt: (text: string) => unknown): Refusal[] => [
  [() => readIt(`a: ${nested(levels + 1)}`), /more than 100 levels/],
  [() => readText(folder, hole("any.yaml", maxMegabytesOfLayer), maxMegabytesOfLayer), /more than 4 MB/],
];

const rows: Row[] = [
  {
    cells: ["Pulumi.yaml, Pulumi.\\<stack\\>.yaml", `${layer} in reports`, count(levels), count(values)],
    beyond: settingsBeyond(readSettings),
  },
  {
    cells: [
      "Environment files and profiles, each",
      layer,
      count(levels),
      `${count(values)}, those that aliases repeat included`,
    ],
    beyond: [
      ...settingsBeyond(problemsOf),
      [() => profile(`# ${"x".repeat(maxMegabytesOfLayer * MB)}\n`), /more than 4 MB|4 MB/],
      [() => problemsOf(`a: &a [${"1,".repeat(999)}1]\nb: [${"*a,".repeat(150)}*a]\n`), /aliases repeat included/],
    ],
  },
  { cells: ["a declaration sent to the plugin", "", count(maxLevels), ""], beyond: [] },
  {
    cells: ["environments.yaml", layer, count(levels), `${count(maxEnvironments)} environments`],
    beyond: [
      ...settingsBeyond(environmentsIn),
      [
        () => environmentsIn(Array.from({ length: maxEnvironments + 1 }, (_, at) => `e${at}: { file: a }\n`).join("")),
        /more than 1000 environments/,
      ],
    ],
  },
  {
    cells: ["drift.yaml", layer, count(levels), count(values)],
    beyond: settingsBeyond((text) => parseAccepted(text, 0)),
  },
  {
    cells: ["rows in YAML", `${maxMegabytesOfRows} MB`, count(ofYamlRows.levels), count(ofYamlRows.values)],
    beyond: [
      [() => rowsOf(hole("rows.yaml", maxMegabytesOfRows)), /more than 64 MB/],
      [() => rowsOf(file("deep.yaml", `- a: ${nested(ofYamlRows.levels)}\n`)), /more than 100 levels/],
      [() => rowsOf(file("many.yaml", "- { a: 1 }\n".repeat(ofYamlRows.values * 0.68))), /more than 250000 values/],
    ],
  },
  {
    cells: ["rows in JSON", `${maxMegabytesOfRows} MB`, count(ofJsonRows.levels), ""],
    beyond: [
      [() => rowsOf(hole("rows.json", maxMegabytesOfRows)), /more than 64 MB/],
      [() => rowsOf(file("deep.json", `[{"a":${nested(ofJsonRows.levels)}}]`)), /nested too deeply/],
    ],
  },
  {
    cells: ["rows in NDJSON", `${maxBytesOfLine / MB} MB a line`, count(ofJsonRows.levels), "any number of lines"],
    beyond: [
      [() => all(linesOfRows([Buffer.from(`a\nb\n${kilobytes}`)], 1_024)), /line of more than 0.0009765625 MB/],
      [() => rowsOf(hole("rows.ndjson", maxBytesOfLine / MB)), /rows.ndjson:1: begins a line of more than 16 MB/],
      [() => rowsOf(file("deep.ndjson", `{"a":${nested(ofJsonRows.levels)}}\n`)), /nested too deeply/],
    ],
  },
  {
    cells: [
      "rows in CSV",
      `${maxBytesOfLine / MB} MB a line, ${maxCharactersOfRecord / MB} Mi characters a row`,
      "",
      "any number of rows",
    ],
    beyond: [
      [() => rowsOf(hole("rows.csv", maxBytesOfLine / MB)), /rows.csv:1: begins a line of more than 16 MB/],
      [
        async () => {
          const blocks = Readable.from([{ first: 1, text: `A\n"${kilobytes}` }]);
          for await (const records of csvRecords(blocks, { longest: 1_024 }))
            for (const record of records) if ("wrong" in record) throw new Error(record.wrong);
        },
        /never closed/,
      ],
    ],
  },
  {
    cells: [
      "a file that is edited",
      `${maxMegabytesOfEdited} MB`,
      `${count(ofEdited.levels)} in YAML`,
      `${count(ofEdited.values)} in YAML`,
    ],
    beyond: [
      [() => readToEdit(folder, file("a.csv", kilobytes), small), /more than 0.0009765625 MB/],
      [() => readToEdit(folder, hole("rows.csv", maxMegabytesOfEdited)), /more than 256 MB/],
      [() => parseYamlTree(nested(ofEdited.levels + 2)), /more than 100 levels/],
    ],
  },
  {
    cells: [
      "an answer of a platform",
      `${maxMegabytesOf("read")} MB for a read, ${maxMegabytesOf("create")} MB else`,
      count(maxAnswerLevels),
      "",
    ],
    beyond: [
      [() => call("readorganization"), /answered with more than 0.0009765625 MB/],
      [() => call("insertorganization"), /answered with more than 0.00048828125 MB/],
      [() => answerIn(nested(maxAnswerLevels + 1)) ?? "no answer", /no answer/],
    ],
  },
  {
    cells: ["a state", `${maxMegabytesOfState} MB in reports`, count(ofStates.levels), ""],
    beyond: [
      [() => textOfFlag(folder, file("state.json", kilobytes), small), /more than 0.0009765625 MB/],
      [() => textOfFlag(folder, hole("large.json", maxMegabytesOfState)), /more than 512 MB/],
      [() => textOfFlag(folder, "-", small, Readable.from([Buffer.from(kilobytes)])), /standard input has more than/],
      [() => parseCheckpoint(nested(ofStates.levels + 1), "dev.json"), /more than 200 levels/],
      [() => stateOf(nested(ofStates.levels + 1)), /more than 200 levels/],
    ],
  },
  { cells: ["a request to the emulator", `${maxBytesOfRequest / MB} MB`, "", ""], beyond: [[announced, /status 413/]] },
  {
    cells: ["a report", "", "", `${deadlineMs / 1_000} seconds, then what is known`],
    beyond: [],
  },
];

/** The reason of a refusal: thrown, or what a reader returns for it. */
const reasonOf = async (work: () => unknown): Promise<string> => {
  try {
    return String(await work());
  } catch (error) {
    return String(error);
  }
};

test.each(rows.map((row) => [row.cells[0], row] as const))("%s", async (_, { beyond }) => {
  for (const [work, says] of beyond) expect(await reasonOf(work)).toMatch(says);
  expect(readdirSync(folder).filter((name) => /draft|tmp/.test(name))).toEqual([]);
});

test("the page of limits has these rows, with the numbers of the code", () => {
  const page = readFileSync(join(repository, "docs/limits.md"), "utf8");
  const lines = page.split("\n").filter((line) => line.startsWith("|"));
  const cells = lines.map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
  expect(cells.slice(2)).toEqual(rows.map((row) => row.cells));
});

const million = 1_000_000;
const deep = "[".repeat(million);
/** Shapes that a parser of YAML takes long for. */
const heavy: [string, string][] = [
  ["brackets", deep],
  ["braces", "{a: ".repeat(million / 4)],
  ["compact lists", "- ".repeat(million / 2)],
  ["explicit keys", "? ".repeat(million / 2)],
  ["steps to the right", Array.from({ length: 1_500 }, (_, at) => `${" ".repeat(at)}a:\n`).join("")],
  ["values", `[${"1,".repeat(million / 4)}1]`],
  ["empty items", "-\n".repeat(million / 4)],
];
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  "a project or stack file": readSettings,
  "an Environment file": problemsOf,
  "environments.yaml": environmentsIn,
  "drift.yaml": (text) => parseAccepted(text, 0),
  "a profile": profile,
};

test.each(
  Object.entries(readers).flatMap(([name, readIt], at) =>
    partOf(heavy, at).map(([shape, text]) => ({ name, shape, readIt, text })),
  ),
)("$name of $shape is refused before it is parsed", async ({ readIt, text }) =>
  expect(await reasonOf(() => readIt(text))).toMatch(
    /more than (100 levels|100000 values)|too many values on one line/,
  ),
);

test("what opens a million brackets is no rows and no answer; brackets in texts are no levels", async () => {
  for (const name of ["rows.yaml", "rows.json", "rows.ndjson"]) {
    const reason = await reasonOf(() => rowsOf(file(name, deep)));
    expect(reason).toMatch(/more than 100 levels|too many values on one line|nested too deeply/);
  }
  const reply = { status: 200, text: `{"status":"success","body":${deep}`, location: undefined };
  expect(parseReply("readorganization", reply as never)).toMatchObject({ failed: { code: "badAnswer" } });
  expect(() => checkJsonBounds(JSON.stringify([deep, '\\"[['.repeat(200)]), { levels: 2, values: 10 })).not.toThrow();
  expect(() => checkJsonBounds("[[[]]]", { levels: 2, values: 10 })).toThrow(BoundError);
  const text = `a: |\n  ${"[".repeat(200)}\nb: "${"{".repeat(200)}"\nc: ${"x[".repeat(200)}\n# ${deep}\n`;
  expect(readSettings(text)).toMatchObject({ c: "x[".repeat(200) });
});

test("when the time of a report is over rows are read no further, and it says what it has", async () => {
  for (const [name, text] of Object.entries({
    "a.csv": `Code\n${"CZ\n".repeat(10_000)}`,
    "a.ndjson": '{"Code":"CZ"}\n'.repeat(10_000),
  })) {
    await rowsOf(file(name, text));
    const late = until(AbortSignal.abort(), () => rowsOf(name));
    await expect(late).rejects.toThrow(new LateError("it took longer than it may"));
  }
  const one = "organizations: { acme: { name: Acme } }\n";
  const environments = "dev: { file: dev.yaml }\nprod: { file: prod.yaml }\n";
  const files = { "Pulumi.yaml": "name: shop\nruntime: nodejs\n", "environments.yaml": environments };
  const branch = new Repository({ ...files, "dev.yaml": one, "prod.yaml": one });
  try {
    branch.write({ "dev.yaml": one.replace("name: Acme", "name: Other") });
    const report = await branch.report({ deadline: AbortSignal.abort() });
    expect(report.environments.map(({ change }) => change.compared)).toEqual([false, false]);
  } finally {
    branch.remove();
  }
});
