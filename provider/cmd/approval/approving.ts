import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { EngineError, printable, stateAtRest, Workspace } from "../../../engine/index.ts";
import { approvedRun, refusedBy, type Approved } from "../../approval/approved.ts";
import { ApprovalError, approvedVariable, keyIn, keyVariable, signatureOf } from "../../approval/signature.ts";
import { changeSet, stops } from "../../changes/model/changeSet.ts";
import { json } from "../../changes/rendering/json.ts";
import { stateVersion } from "../../changes/sealing/stateVersion.ts";
import { destinationOf } from "../../pulumi/binding.ts";
import { settingsOf } from "../settings.ts";
import type { ApproveOptions } from "./commands.ts";

/** The exit status of what is not approved, as docs/exit-statuses.md has it. */
const notApproved = 2;

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Longest time that an approval counts. */
const maxDays = 90;

/** Signs a report. */
export function approve(file: string, { cwd = ".", output = file, validFor }: ApproveOptions): void {
  const place = path.resolve(cwd, file);
  const key = failing(() => keyIn(process.env));
  if (key === undefined) {
    throw new EngineError(
      `set ${keyVariable} to the key that approvals are signed with: make one with "openssl rand -hex 32", and keep it where the apply job alone finds it`,
      notApproved,
    );
  }
  const [, count = "", unit = ""] = /^([1-9]\d{0,4})([mhd])$/.exec(validFor) ?? [];
  const time = Number(count) * (units[unit] ?? NaN);
  if (!(time <= maxDays * 86_400_000)) {
    throw new EngineError(`--valid-for ${validFor} is no time such as 30m, 12h or 7d, of at most ${maxDays} days`);
  }
  const report = reportIn(place, file);
  for (const environment of report.environments) {
    const { name, seal } = environment;
    const [stop] = stops(environment);
    if (stop !== undefined) throw new EngineError(`${name} can't be approved: ${stop}`, notApproved);
    if (!seal) throw new EngineError(`${name} has no seal: make the report with --format json`, notApproved);
    if ("why" in seal) throw new EngineError(`${name} has no seal: ${seal.why}`, notApproved);
    if (seal.endpoint === null) {
      throw new EngineError(
        `${name} can't be approved: nothing in clear says its endpoint. Write it into environments.yaml`,
        notApproved,
      );
    }
    if (seal.state === "unknown") {
      const what = "what is approved is to create and to change into what is declared, and to delete nothing";
      process.stderr.write(`warning: the report of ${printable(name, false)} was made without the state: ${what}\n`);
    }
  }
  const nonce = randomBytes(16).toString("hex");
  const approval = { nonce, expires: new Date(Date.now() + time).toISOString(), signature: "0".repeat(64) };
  const unsigned = changeSet.parse({ ...report, approval });
  const signature = signatureOf(unsigned, key);
  writeFileSync(path.resolve(cwd, output), json({ ...unsigned, approval: { ...approval, signature } }));
}

function reportIn(place: string, file: string) {
  try {
    const report = changeSet.safeParse(JSON.parse(readFileSync(place, "utf8")));
    if (report.success && report.data.kind === "report") return report.data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) {
      throw new EngineError(`${file} can't be read: ${(error as NodeJS.ErrnoException).code ?? "unknown"}`); // a system call
    }
  }
  throw new EngineError(
    `${file} is no report of this version: make it with "microapps report --format json"`,
    notApproved,
  );
}

/** A run that is held against a report. */
interface ApprovedRun {
  cwd?: string;
  stack?: string;
  file: string;
}

let approved: Approved | undefined;

/** Throws when the report does not fit what is about to run; else its providers find it in the environment. */
export async function assertApproved({ cwd = ".", stack, file }: ApprovedRun): Promise<void> {
  const folder = path.resolve(cwd);
  const place = path.resolve(folder, file);
  process.env[approvedVariable] = place;
  const workspace = await Workspace.open({ cwd: folder, environment: process.env });
  const { name } = await workspace.stack(stack);
  const { settings } = await settingsOf(folder, name);
  const project = workspace.project.root;
  const run = {
    file: place,
    folder: project,
    project,
    stack: name,
    ...destinationOf(settings),
    environment: process.env,
    now: Date.now(),
  };
  try {
    approved = await approvedRun(run);
    if (approved.use.isUsed()) throw new ApprovalError("a run was made with it already: each is for one run");
    const { state } = approved.seal;
    const text = await stateAtRest(folder, name, process.env);
    const now = text === undefined ? undefined : stateVersion(text);
    if (state !== "unknown" && (now?.serial !== state.serial || now.hash !== state.hash)) {
      throw new ApprovalError("the state is not the one that the report was made of: something ran since");
    }
  } catch (error) {
    throw error instanceof ApprovalError ? new EngineError(refusedBy(file, error), notApproved) : error;
  }
  approved.use.takeRefused();
}

/** Ends with the status of what is not approved where a provider refused an operation. */
export function statusOfRefusals(): void {
  if (approved?.use.takeRefused()) process.exitCode = notApproved;
}

function failing<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw error instanceof ApprovalError ? new EngineError(error.message, notApproved) : error;
  }
}
