import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import {
  ask,
  EngineError,
  isInteractive,
  processTerminal,
  stateAtRest,
  Workspace,
  type Terminal,
} from "../../../engine/index.ts";
import { readApproval, describeRefusal, type Approved } from "../../../provider/approval/approved.ts";
import { digestOf } from "../../../provider/approval/canonical.ts";
import { sealDigest } from "../../../provider/approval/seal.ts";
import {
  ApprovalError,
  approvedVariable,
  keyIn,
  keyVariable,
  signatureOf,
} from "../../../provider/approval/signature.ts";
import { destinationOf } from "../../../provider/pulumi/binding.ts";
import { changeSet, stops, type ChangeSet } from "../../changes/model/changeSet.ts";
import { json } from "../../changes/rendering/json.ts";
import { terminal } from "../../changes/rendering/terminal.ts";
import { stateVersion } from "../../changes/sealing/stateVersion.ts";
import { reportOf } from "../report/reporting.ts";
import { readSavedReport } from "../report/savedReport.ts";
import { settingsOf } from "../settings.ts";
import type { ApproveOptions } from "./options.ts";

/** The exit status of what is not approved, as docs/exit-statuses.md has it. */
const notApproved = 2;

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** All parts of an environment in a report. */
const environmentParts = changeSet.shape.environments.element.keyof().options;

/** Longest time that an approval counts. */
const maxDays = 90;

/** Makes the report of the working tree and the state, shows what its seals allow, and signs that. */
export async function approve(
  file: string | undefined,
  options: ApproveOptions,
  person: Terminal = processTerminal,
): Promise<void> {
  const { cwd = ".", output = file, validFor } = options;
  const key = failing(() => keyIn(process.env));
  if (key === undefined) {
    throw new EngineError(
      `set ${keyVariable} to the key that approvals are signed with: make one with "openssl rand -hex 32", and keep it where the apply job alone finds it`,
      notApproved,
    );
  }
  if (output === undefined) throw new EngineError("name a report, or the file for the approval with --output");
  const time = timeIn(validFor);
  const folder = path.resolve(cwd);
  const saved = file === undefined ? undefined : readSavedReport(folder, file);
  const made = await madeAnew(folder, saved, options);
  if (saved) refuseOther(file ?? "", saved, made);
  const digests = made.environments.map(digestToApprove);
  person.output.write(terminal(made));
  const code = made.flags.filter((flag) => flag.code === true).map(({ text }) => text);
  await agreed(digests, code, options, person);
  const nonce = randomBytes(16).toString("hex");
  const approval = { nonce, expires: new Date(Date.now() + time).toISOString(), signature: "0".repeat(64) };
  const unsigned = changeSet.parse({ ...made, approval });
  const signature = signatureOf(unsigned, key);
  writeFileSync(path.resolve(folder, output), json({ ...unsigned, approval: { ...approval, signature } }));
}

function timeIn(validFor: string): number {
  const [, count = "", unit = ""] = /^([1-9]\d{0,4})([mhd])$/.exec(validFor) ?? [];
  const time = Number(count) * (units[unit] ?? NaN);
  if (time <= maxDays * 86_400_000) return time;
  throw new EngineError(`--valid-for ${validFor} is no time such as 30m, 12h or 7d, of at most ${maxDays} days`);
}

/** Makes the report again from this tree and this state; a saved one is compared with it, and not believed. */
async function madeAnew(folder: string, saved: ChangeSet | undefined, options: ApproveOptions): Promise<ChangeSet> {
  const stacks = saved?.environments.map(({ name, stack }) => stack ?? name) ?? [options.stack ?? []].flat();
  const base = saved?.base?.commit ?? options.base ?? "HEAD";
  const { file, state } = options;
  const set = await reportOf(folder, {
    ...{ base, stacks, format: "json" },
    ...(file === undefined ? {} : { file }),
    ...(state === undefined ? {} : { state }),
  });
  const made = changeSet.parse(JSON.parse(json(set)));
  return saved?.base ? { ...made, base: saved.base } : made;
}

/** Throws where a report is not the one that was made now, with the parts that differ. */
function refuseOther(file: string, saved: ChangeSet, made: ChangeSet): void {
  const others = [
    ...(digestOf(saved.flags) === digestOf(made.flags) ? [] : ["flags"]),
    ...made.environments.flatMap((now) => {
      const was = saved.environments.find(({ name }) => name === now.name);
      const parts = environmentParts.filter((part) => digestOf([was?.[part]]) !== digestOf([now[part]]));
      return parts.length === 0 ? [] : [`${now.name} (${parts.join(", ")})`];
    }),
    ...(saved.environments.length === made.environments.length ? [] : ["environments"]),
  ];
  if (others.length === 0) return;
  throw new EngineError(
    `${file} is not the report that this tree and this state give: ${others.join(", ")}. Make the report again, here`,
    notApproved,
  );
}

/** The digest of an environment's seal; throws where it can't be approved. */
function digestToApprove(environment: ChangeSet["environments"][number]): string {
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
  return sealDigest(seal);
}

/** Throws unless a person agrees, or has seen these digests before, and has read the code that no report explains. */
async function agreed(
  digests: readonly string[],
  code: readonly string[],
  { expect: expected = [], codeReviewed = false }: ApproveOptions,
  person: Terminal,
): Promise<void> {
  if (expected.length > 0) {
    if (digests.every((one) => expected.includes(one))) {
      if (codeReviewed || code.length === 0) return;
      throw new EngineError(
        `${code.join("; ")}. Nothing here understands code: pass --code-reviewed once it was read`,
        notApproved,
      );
    }
    throw new EngineError(
      "what is approved has another digest than --expect: read the report above, and expect the digests of it",
      notApproved,
    );
  }
  if (!isInteractive(person, false)) {
    throw new EngineError(
      "nobody sits here to be asked: pass --expect <digest>, for each environment the one that people saw in the report",
      notApproved,
    );
  }
  const unread = codeReviewed ? [] : code;
  for (const question of [...unread.map((text) => `${text}. Have you read it?`), "Approve this?"])
    if ((await ask(person, question, ["yes", "no"])) === "no") throw new EngineError("not approved", notApproved);
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
    approved = await readApproval(run);
    if (approved.use.isUsed()) throw new ApprovalError("a run was made with it already: each is for one run");
    const { state } = approved.seal;
    const text = await stateAtRest(folder, name, process.env);
    const now = text === undefined ? undefined : stateVersion(text);
    if (state !== "unknown" && (now?.serial !== state.serial || now.hash !== state.hash)) {
      throw new ApprovalError("the state is not the one that the report was made of: something ran since");
    }
  } catch (error) {
    throw error instanceof ApprovalError ? new EngineError(describeRefusal(file, error), notApproved) : error;
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
