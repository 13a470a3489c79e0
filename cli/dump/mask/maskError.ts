/** Why nothing was masked, each reason in one sentence with its remedy. It quotes no value that is to be masked. */
export class MaskError extends Error {
  override readonly name = "MaskError";
}
