/** Why there is no dump, in one sentence with its remedy. */
export class DumpError extends Error {
  override readonly name = "DumpError";
}
