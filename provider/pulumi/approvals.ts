import { approvedFileIn, approvedRun, refusedBy } from "../approval/approved.ts";
import { Enforcement, type Asked } from "../approval/enforcement.ts";
import { projectOf } from "../approval/files.ts";
import { ApprovalError } from "../approval/signature.ts";
import { ResourceError } from "../resources/model/resource.ts";
import { platformOf } from "./binding.ts";
import type { Configuration } from "./configuration/configuration.ts";
import { holdsUnknown, lastInputs, type Properties } from "./properties.ts";

/** Where a run takes place. */
interface Surroundings {
  configuration: () => Configuration;
  directory: string;
  engine?: string | undefined;
}

/** The approval that the environment names for a run, read once. */
export class Approvals {
  readonly #surroundings: Surroundings;
  #enforcement: Promise<Enforcement> | undefined;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** Whether a run is held against a report. */
  get areAsked(): boolean {
    return approvedFileIn(process.env) !== undefined;
  }

  /** What holds the operations of a run against its report; undefined where nobody asked for that. */
  of({ urn }: Asked): Promise<Enforcement> | undefined {
    const file = approvedFileIn(process.env);
    if (file === undefined) return undefined;
    return (this.#enforcement ??= this.#read(file, /^urn:pulumi:(.*?)::/.exec(urn ?? "")?.[1] ?? ""));
  }

  /** Holds what a program declares against the report; `olds` are the inputs of the last run. */
  async declared(call: Asked, olds: Properties, inputs: Properties): Promise<void> {
    const isNew = Object.keys(lastInputs(call.resource, olds)).length === 0;
    (await this.of(call))?.declared(call, inputs, isNew);
  }

  async #read(file: string, stack: string): Promise<Enforcement> {
    const { configuration, directory, engine } = this.#surroundings;
    const settings = configuration();
    const project = projectOf(directory);
    const run = {
      file,
      folder: directory,
      project,
      stack,
      endpoint: platformOf(settings),
      account: settings.email ?? settings.userID,
      environment: process.env,
      now: Date.now(),
    };
    try {
      const approved = await approvedRun(run);
      return new Enforcement(approved, { folder: directory, project }, engine ?? String(process.pid), holdsUnknown);
    } catch (error) {
      throw error instanceof ApprovalError ? new ResourceError(refusedBy(file, error)) : error;
    }
  }
}
