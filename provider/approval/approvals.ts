import { projectAbove } from "../files/repository.ts";
import { ResourceError } from "../resources/model/resource.ts";
import type { ApprovedRun } from "./approved.ts";
import type { Asked, Enforcement } from "./enforcement.ts";
import { ApprovalError, findApprovedFile } from "./signature.ts";

type Values = Readonly<Record<string, unknown>>;

/** Where a run takes place. */
interface Surroundings {
  /** Where calls go, and as whom. */
  destination: () => Pick<ApprovedRun, "endpoint" | "account">;
  /** The program's folder. */
  directory: string;
  /** The engine's address. */
  engine?: string | undefined;
  /** True for a value known only once other resources exist. */
  isUnknown: (value: unknown) => boolean;
}

/** The approval that the environment names for a run, read once. */
export class Approvals {
  readonly #surroundings: Surroundings;
  #enforcement: Promise<Enforcement> | undefined;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** True when a run is checked against a report. */
  get areAsked(): boolean {
    return findApprovedFile(process.env) !== undefined;
  }

  /** The enforcement of a run's report; undefined without one. */
  of({ urn }: Asked): Promise<Enforcement> | undefined {
    const file = findApprovedFile(process.env);
    if (file === undefined) return undefined;
    return (this.#enforcement ??= this.#read(file, /^urn:pulumi:(.*?)::/.exec(urn ?? "")?.[1] ?? ""));
  }

  /** Holds what a program declares against the report; `olds` are the inputs of the last run. */
  async declared(asked: Asked, olds: Values, inputs: Values): Promise<void> {
    const isNew = Object.keys(olds).every((name) => name === "resourceUrn" || name === "__provider");
    (await this.of(asked))?.declared(asked, inputs, isNew);
  }

  async #read(file: string, stack: string): Promise<Enforcement> {
    const { destination, directory: folder, engine = String(process.pid), isUnknown } = this.#surroundings;
    // Loaded when it is needed: most runs are held against nothing.
    const [{ readApproval, describeRefusal }, { Enforcement }] = await Promise.all([
      import("./approved.ts"),
      import("./enforcement.ts"),
    ]);
    const project = projectAbove(folder);
    const { env: environment } = process;
    try {
      const run = { file, folder, project, stack, ...destination(), environment, now: Date.now() };
      return new Enforcement(await readApproval(run), { folder, project }, engine, isUnknown);
    } catch (error) {
      throw error instanceof ApprovalError ? new ResourceError(describeRefusal(file, error)) : error;
    }
  }
}
