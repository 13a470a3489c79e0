/**
 * Thrown when a thing exists but is not as wanted yet. It is saved with what is known of it, and the next run goes on
 * from there.
 */
export class PartialFailure extends Error {
  readonly id: string;
  readonly outputs: Readonly<Record<string, unknown>>;
  constructor(message: string, id: string, outputs: Readonly<Record<string, unknown>>) {
    super(message);
    this.name = "PartialFailure";
    this.id = id;
    this.outputs = outputs;
  }
}

/** A failure of the resource's own, in one sentence with its remedy. */
export class ResourceError extends Error {
  override readonly name = "ResourceError";
}
