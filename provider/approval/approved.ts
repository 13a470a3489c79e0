import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { z } from "zod";
import { readOwnPackage } from "../../machine/ownPackage.ts";
import { filesIn, projectFileAmong, stackFileAmong, stackFileOf } from "../../machine/settings/names.ts";
import { isIn, rootOf } from "../files/repository.ts";
import { digestOf } from "./canonical.ts";
import { digestCode, findOtherCode } from "./code.ts";
import { digestsOf } from "./files.ts";
import { jsonOfReport } from "./reportFile.ts";
import { approvedReport, hasOtherForm, type Seal } from "./seal.ts";
import { ApprovalError, isSigned, keyIn, keyVariable } from "./signature.ts";
import { Use } from "./used.ts";

/** The facts about a run that its approval depends on. */
export interface ApprovedRun {
  /** The file with the report. */
  file: string;
  /** The program's folder, or the project's. */
  folder: string;
  project: string;
  stack: string;
  /** Address of the platform, as states have it. */
  endpoint: string;
  /** Address or ID of who logs in. */
  account: string | undefined;
  environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since the epoch. */
  now: number;
}

/** A seal that is believed and fits this run. */
export interface Approved {
  seal: Seal;
  use: Use;
}

/** Advice after a report that no longer fits. */
export const again = "Make a report of what is there now, and have that approved.";

/** Why a seal of another form is refused. */
export const otherForm = "it was made by another version: make the report again";

/** Reads the report that a run was approved with. Throws an ApprovalError with what does not fit; nothing was sent then. */
export async function readApproval(run: ApprovedRun): Promise<Approved> {
  const { raw, report } = reportIn(run);
  const key = keyIn(run.environment);
  const { approval } = report;
  if (key !== undefined && !approval) {
    throw new ApprovalError(`it is not signed, and ${keyVariable} asks for that: run "microapps approve" on it`);
  }
  if (key !== undefined && !isSigned(raw, key)) {
    throw new ApprovalError(
      "its signature does not fit: it was changed after it was approved, or approved with another key",
    );
  }
  if (approval && Date.parse(approval.expires) <= run.now) {
    throw new ApprovalError(`the approval expired at ${approval.expires}. ${again}`);
  }
  const environment = report.environments.find(({ stack }) => stack === run.stack);
  if (!environment) {
    const names = report.environments.map(({ stack, name }) => stack ?? name).join(", ");
    throw new ApprovalError(`it is about ${names}, and not about the stack ${run.stack}`);
  }
  const { seal } = environment;
  if (!seal || "why" in seal)
    throw new ApprovalError(`it has no seal for ${environment.name}${seal ? `: ${seal.why}` : ""}`);
  if (seal.stack !== run.stack) throw new ApprovalError(`its seal is of the stack ${seal.stack}, not of ${run.stack}`);
  await assertSame(run, seal);
  return { seal, use: new Use(approval?.nonce ?? digestOf(raw), environment.name) };
}

type RawReport = Parameters<typeof isSigned>[0];

/** The report of a run: the raw file, whose unknown fields count for the signature as well, and its parsed content. */
function reportIn({ file, folder }: ApprovedRun): { raw: RawReport; report: z.output<typeof approvedReport> } {
  const place = resolve(folder, file);
  const root = rootOf(folder);
  let found: string;
  try {
    found = realpathSync(place);
  } catch (error) {
    throw new ApprovalError(`it can't be read: ${(error as NodeJS.ErrnoException).code ?? "unknown"}`); // a system call
  }
  if (isIn(root, found) || isIn(root, place)) {
    throw new ApprovalError(
      "it lies in the working tree, where whoever wrote the branch may have put it: keep it outside, as an artifact of the pipeline",
    );
  }
  const raw = jsonOfReport(found);
  if (hasOtherForm(raw)) throw new ApprovalError(otherForm);
  const parsed = approvedReport.safeParse(raw);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ApprovalError(
      `it is no report with a seal of this version (${issue?.path.join(".") ?? ""}): make it with "microapps report --format json"`,
    );
  }
  return { raw: raw as RawReport, report: parsed.data }; // just parsed
}

async function assertSame({ project, endpoint, account }: ApprovedRun, seal: Seal): Promise<void> {
  const { name, version } = readOwnPackage();
  if (seal.package.name !== name || seal.package.version !== version) {
    throw new ApprovalError(
      `it was made by another version, ${seal.package.name} ${seal.package.version}, and this is ${name} ${version}: make the report again`,
    );
  }
  if (seal.endpoint !== endpoint) {
    throw new ApprovalError("it was approved for another endpoint than the one that is configured");
  }
  if (seal.account !== null && account !== undefined && seal.account.toLowerCase() !== account.toLowerCase()) {
    throw new ApprovalError("it was approved for another account than the one that is configured");
  }
  const strange = otherSettings(project, seal);
  if (strange !== undefined) throw new ApprovalError(`${strange}. ${again}`);
  const counted = Object.keys(seal.files).map((path) => ({ path }));
  const secret = seal.secretFiles.map((path) => ({ path, isSecret: true }));
  const { files, content } = await digestsOf(project, [...counted, ...secret]);
  const changed = Object.keys(seal.files).filter((path) => files[path] !== seal.files[path]);
  if (changed.length > 0 || content !== seal.content) {
    const named = changed.length > 0 ? changed.slice(0, 5).join(", ") : "a file with secret rows";
    throw new ApprovalError(`${named} is not as it was when this was approved. ${again}`);
  }
  if ((await digestCode(project)) !== seal.code) {
    const others = (await findOtherCode(project, seal.commit)).slice(0, 5).join(", ");
    const what = others === "" ? "code, or what decides which code runs," : `what runs (${others})`;
    throw new ApprovalError(`${what} is not as it was when this was approved. ${again}`);
  }
}

/** Why project and stack are not read from the files of the seal: one that came since may count more. */
function otherSettings(project: string, { files, stack }: Seal): string | undefined {
  const { file = "Pulumi.yaml", why } = projectFileAmong(filesIn(project));
  const name = stackFileOf(stack, file);
  const known = Object.keys(files).find((path) => basename(path) === name) ?? name;
  return why ?? stackFileAmong(filesIn(join(project, dirname(known))), stack, file).why;
}

/** First words of an ApprovalError's message. */
export const describeRefusal = (file: string, error: ApprovalError): string =>
  `nothing was sent: the approved report ${file} is not accepted: ${error.message}`;
