import { createHmac, timingSafeEqual } from "node:crypto";
import { canonical } from "./canonical.ts";

/** The variable with the key that approvals are signed with. */
export const keyVariable = "MICROAPPS_APPROVAL_KEY";

/** The variable with the file of the report that a run is held against. */
export const approvedVariable = "MICROAPPS_APPROVED";

/** Characters that a key has at least. */
const shortestKey = 32;

/** A report or key that is not accepted, in one sentence. */
export class ApprovalError extends Error {
  override readonly name = "ApprovalError";
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The key of this environment; undefined where there is none. Throws where it is too short to be one. */
export function keyIn(environment: Environment): string | undefined {
  const key = environment[keyVariable];
  if (key === undefined || key === "") return undefined;
  if (key.length >= shortestKey) return key;
  throw new ApprovalError(
    `${keyVariable} has less than ${shortestKey} characters: make one with "openssl rand -hex 32", and keep it where the apply job alone finds it`,
  );
}

interface Signed {
  approval?: { signature?: string; nonce: string; expires: string } | undefined;
}

/** Signs a report: HMAC-SHA-256 over all of it but the signature, in hex. */
export function signatureOf(report: Signed, key: string): string {
  const { approval } = report;
  const unsigned = { ...report, approval: { ...approval, signature: undefined } };
  return createHmac("sha256", key).update(canonical(unsigned)).digest("hex");
}

/** True for a report signed with this key. */
export function isSigned(report: Signed, key: string): boolean {
  const claimed = Buffer.from(report.approval?.signature ?? "", "hex");
  const own = Buffer.from(signatureOf(report, key), "hex");
  return claimed.length === own.length && timingSafeEqual(claimed, own);
}

/** The file that the environment names. */
export const findApprovedFile = (environment: Environment): string | undefined =>
  environment[approvedVariable] || undefined;
