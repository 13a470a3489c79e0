import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Command } from "commander";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addEngineCommands } from "../../../engine/cli/cli.ts";
import { addDoctorCommand } from "./commands.ts";
import { runDoctor } from "./doctor.ts";
import type { DoctorOutcome } from "./rendering.ts";
import { account, Clinic, fakeTerminal, secrets } from "./testing/clinic.ts";

// Plays a person who follows each message word for word, until nothing has to be mended.

let clinic: Clinic;
let folder: string;
let environment: NodeJS.ProcessEnv;
beforeAll(async () => (clinic = await Clinic.open()));
afterAll(() => clinic.close());

async function enter(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), "walk-"));
  environment = { PULUMI_CONFIG_PASSPHRASE: "x", PULUMI_HOME: join(folder, ".home"), HOME: folder };
}
const leave = (): Promise<void> => rm(folder, { recursive: true });

interface Ended {
  status: number;
  output: string;
}

/** Types a command, with a text on standard input. */
async function type(line: string, text = ""): Promise<Ended> {
  const terminal = fakeTerminal(environment, undefined, text);
  const program = new Command("microapps").exitOverride();
  addEngineCommands(program, terminal);
  addDoctorCommand(program, terminal);
  const [, ...words] = line.split(" ");
  const before = process.exitCode;
  const since = clinic.emulator.lastCall();
  try {
    await program.parseAsync(words, { from: "user" });
    const output = terminal.written();
    for (const secret of Object.values(secrets)) expect(output).not.toContain(secret);
    expect(clinic.emulator.calls({ since, mutating: true })).toEqual([]);
    return { status: Number(process.exitCode ?? 0), output };
  } finally {
    process.exitCode = before;
  }
}

async function look(line: string): Promise<DoctorOutcome> {
  const { status, output } = await type(`${line} --json`);
  const outcome = JSON.parse(output) as DoctorOutcome; // the command's own
  expect(outcome.status).toBe(status);
  return outcome;
}

/** The first problem to mend. */
const first = ({ findings }: DoctorOutcome): { seen?: string; mend?: readonly string[] } =>
  findings.find(({ is }) => is === "wrong") ?? {};

/** Follows a message; `value` is known to the person alone. */
async function mend(line: string, value = ""): Promise<void> {
  const [, name, shown] = /^export (\w+)=(.*)$/.exec(line) ?? [];
  const [, file, at, column, property, text] = /^([\w.]+):(\d+):(\d+): (\w+): (.*)$/.exec(line) ?? [];
  if (name !== undefined) environment[name] = shown === "…" ? value : shown;
  else if (file !== undefined) {
    const lines = (await readFile(join(folder, file), "utf8")).split("\n");
    const index = Number(at) - 1;
    const old = lines[index]?.slice(Number(column) - 1).match(/^[\w-]+/)?.[0] ?? "";
    expect(lines[index]).toContain(`${property ?? ""}: ${old}`);
    lines[index] = lines[index]?.replace(`${property ?? ""}: ${old}`, `${property ?? ""}: ${text ?? ""}`) ?? "";
    await writeFile(join(folder, file), lines.join("\n"));
  } else expect(await type(line, `${value}\n`)).toMatchObject({ status: 0 });
}

test("in an empty folder it says what to set, and each mistake what mends it", async () => {
  await enter();
  const doctor = `microapps doctor -C ${folder}`;
  const nothing = await look(doctor);
  expect(first(nothing)).toMatchObject({
    seen: "There is no project in this folder or above it, and no variable says which platform is meant.",
    mend: ["export MICROAPPS_ENDPOINT=…", "export MICROAPPS_EMAIL=…", "export MICROAPPS_PASSWORD=…"],
  });
  expect(nothing).toMatchObject({ status: 2, stack: null, platform: null, calls: { made: 0 } });
  const [endpoint = "", email = "", password = ""] = first(nothing).mend ?? [];
  await mend(endpoint, clinic.fill("<nobody>"));
  await mend(email, account.email);
  await mend(password, secrets.other);
  const steps: [seen: string, value: string][] = [
    ["Nothing listens at <nobody>.", clinic.fill("<platform>/api")],
    ["The platform answers at <platform>, and not below the path of the endpoint.", ""],
    [
      `The platform refuses the login of ${account.email}: Login failed: wrong e-mail address or password.`,
      account.password,
    ],
  ];
  for (const [seen, value] of steps) {
    const found = first(await look(doctor));
    expect(clinic.steady(found.seen ?? "")).toBe(seen);
    await mend(found.mend?.[0] ?? "", value);
  }
  expect(await look(doctor)).toMatchObject({ status: 0 });
  // Looking leaves nothing behind.
  expect(await readdir(folder)).toEqual([]);
  await leave();
});

test("in a stack each mistake is mended by what is named", async () => {
  await enter();
  await writeFile(join(folder, "Pulumi.yaml"), "name: walk\nruntime: nodejs\nbackend: { url: file://. }\n");
  const inStack = `-s dev -C ${folder}`;
  await type(`microapps stack init dev -C ${folder}`);
  const next = `microapps doctor ${inStack}`;
  for (const [key, value] of [
    ["endpoint", clinic.emulator.url],
    ["email", account.email],
  ] as const) {
    const found = first(await look(next));
    expect(found.mend?.[0]).toBe(`microapps config set microapps:${key} ${inStack}`);
    await mend(found.mend?.[0] ?? "", value);
  }
  await mend(first(await look(next)).mend?.[0] ?? "", account.password);
  expect(await look(next)).toMatchObject({ status: 0, stack: "dev" });

  await writeFile(
    join(folder, "dev.yaml"),
    "seeds:\n  r: { table: region, key: Cod, rows: [{ Cod: R1, Code: R1 }] }\n",
  );
  const mistakes = ["organizationID org-acne", "endpoint platform.example.com", "readonly true"];
  for (const each of mistakes) await type(`microapps config set microapps:${each} -s dev -C ${folder}`);
  await type(`microapps config set --secret microapps:password -s dev -C ${folder}`, secrets.other);
  const steps: [seen: string, value: string][] = [
    ["microapps:readonly is no configuration; did you mean microapps:readOnly?", ""],
    [
      "microapps:endpoint must be an address that begins with https:// (or http://), or emulator:<file>.",
      clinic.emulator.url,
    ],
    [
      `The platform refuses the login of ${account.email}: Login failed: wrong e-mail address or password.`,
      account.password,
    ],
    ["There is no organization org-acne on the platform.", clinic.organization],
    ["There is no table region on the platform.", "regions"],
    ['No row of table regions has the label "Cod", which is in its key.', ""],
  ];
  for (const [seen, value] of steps) {
    const found = first(await look(next));
    expect(found.seen).toBe(seen);
    await mend((found.mend?.[0] ?? "").replace("<its ID>", value), value);
  }
  expect(await look(next)).toMatchObject({ status: 0 });
  await leave();
});

// UPDATE_SCREENS=1 rewrites the texts: read them.
test.each([80, 100])("what people see on %i columns", async (columns) => {
  const cases = [
    {},
    { config: { password: secrets.other } },
    {
      file: "seeds: { r: { table: regions, key: code, rows: [{ code: R1 }] } }\n",
      tables: ["twins:Code", "empty:Code"],
    },
  ];
  let screens = "";
  for (const one of cases) {
    await clinic.write(one);
    const terminal = fakeTerminal(clinic.environment(), columns);
    const options = { cwd: clinic.folder, color: "never" as const, stack: "dev", table: one.tables ?? [] };
    await runDoctor(options, terminal);
    const text = terminal.written();
    const wide = text.split("\n").filter((line) => line.length > columns);
    expect(wide.filter((line) => !/^ +(microapps|export) /.test(line))).toEqual([]);
    screens += `${text}\n`;
  }
  const shown = clinic
    .steady(screens)

    .replaceAll(/ +-C <folder>/g, "");
  const file = join(import.meta.dirname, `../../../../cli/commands/doctor/testdata/screen-${columns}.txt`);
  if (process.env["UPDATE_SCREENS"]) await writeFile(file, shown);
  expect(shown).toBe(await readFile(file, "utf8"));
});
