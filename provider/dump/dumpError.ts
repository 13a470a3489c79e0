/** Why there is no dump, in one sentence that says what to do. */
export class DumpError extends Error {
  override readonly name = "DumpError";
}
