/** A configuration that cannot be used, in one sentence that says what to set. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}
