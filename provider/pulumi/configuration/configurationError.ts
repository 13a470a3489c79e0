/** An unusable configuration; `message` is one sentence that names what to set. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}
