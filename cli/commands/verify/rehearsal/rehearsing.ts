import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { messageOf } from "../../../../machine/failures.ts";
import { fixtures } from "../../../../provider/conformance/fixtures.ts";
import type { Profile } from "../../../../provider/habits/profile.ts";
import type { Configuration } from "../../../../provider/pulumi/configuration/configuration.ts";
import { Failure } from "../../../../provider/pulumi/failure.ts";
import { Operations, type Call } from "../../../../provider/pulumi/operations.ts";
import { reporterTo } from "../../../../provider/pulumi/progress.ts";
import type { Properties } from "../../../../provider/pulumi/properties.ts";
import { resourceNamed } from "../../../../provider/resources/resources.ts";
import { yamlOf } from "../profileFile.ts";
import type { Journal, JournalThing } from "../sandbox/journal.ts";
import { parts as allParts, type RehearsedPart, type PartProps } from "./parts.ts";

/** How one part came out. */
export interface Rehearsed {
  resource: string;
  does: string;
  status: "works" | "fails" | "notTried";
  /** Why it fails or was not tried. */
  why?: string;
}

interface Rehearsal extends Omit<PartProps, "idOf"> {
  /** A stack's, with the address that is connected to. */
  settings: Configuration;
  profile: Profile;
  journal: Journal;
  signal: AbortSignal;
  parts?: readonly RehearsedPart[] | undefined;
  hide: (text: string) => string;
  show: (text: string) => void;
}

/** State of a part that was created. */
interface Made {
  part: RehearsedPart;
  id: string;
  inputs: Properties;
  outputs: Properties;
  /** Its entry in the journal. */
  number: number | undefined;
}

/**
 * Carries out what `up`, `refresh` and `destroy` do with each resource, by the same code and with a profile. What a
 * part makes is in the journal, or a row with the run's mark.
 */
export async function rehearse(rehearsal: Rehearsal): Promise<Rehearsed[]> {
  const directory = await mkdtemp(path.join(tmpdir(), "microapps-verify-"));
  const stack = new Stack(rehearsal, directory);
  try {
    await writeFile(path.join(directory, "profile.yaml"), yamlOf(rehearsal.profile));
    return await stack.run(rehearsal.parts ?? allParts);
  } finally {
    await stack.close();
    await rm(directory, { recursive: true, force: true });
  }
}

class Stack {
  readonly #rehearsal: Rehearsal;
  readonly #directory: string;
  #operations: Operations;
  readonly #made = new Map<string, Made>();
  readonly #ended: (Rehearsed & { name: string })[] = [];

  constructor(rehearsal: Rehearsal, directory: string) {
    this.#rehearsal = rehearsal;
    this.#directory = directory;
    this.#operations = this.#begin();
  }

  async run(parts: readonly RehearsedPart[]): Promise<Rehearsed[]> {
    const { show, signal } = this.#rehearsal;
    for (const part of parts) {
      show(`rehearsing: ${part.resource} ${part.does}`);
      const why = signal.aborted ? "the run was stopped" : this.#obstacle(part);
      if (why === undefined) await this.#attempt(part, () => this.#live(part));
      else this.#end(part, "notTried", why);
    }
    // Another run: a destroy runs no program.
    await this.close();
    this.#operations = this.#begin();
    for (const made of [...this.#made.values()].reverse()) {
      if (!signal.aborted) await this.#attempt(made.part, () => this.#delete(made));
    }
    return this.#ended.map(({ name: _, ...each }) => each);
  }

  async close(): Promise<void> {
    await this.#operations.close().catch(() => undefined);
  }

  #begin(): Operations {
    const { settings } = this.#rehearsal;
    return new Operations({
      configuration: () => ({ ...settings, profile: "profile.yaml" }),
      directory: this.#directory,
      readsFirst: true,
      signal: this.#rehearsal.signal,
      report: reporterTo(undefined),
    });
  }

  #obstacle({ needs, after = [] }: RehearsedPart): string | undefined {
    const { sandbox, tables } = this.#rehearsal;
    const known: Readonly<Record<string, string | undefined>> = { ...tables, ...sandbox };
    const missing = needs.find((name) => known[name] === undefined);
    if (missing !== undefined) return `the sandbox has no ${missing}: ${fixtures[missing]}`;
    const before = this.#ended.find(({ name, status }) => after.includes(name) && status !== "works");
    return before && `it needs what did not work: ${before.resource} ${before.does}`;
  }

  /** Notes the first failure of a part. */
  async #attempt(part: RehearsedPart, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      if (!this.#ended.some(({ name }) => name === part.name)) this.#end(part, "works");
    } catch (error) {
      if (this.#rehearsal.signal.aborted) this.#end(part, "notTried", "the run was stopped");
      else this.#end(part, "fails", this.#rehearsal.hide(messageOf(error)));
    }
  }

  #end({ name, resource, does }: RehearsedPart, status: Rehearsed["status"], why?: string): void {
    const at = this.#ended.findIndex((each) => each.name === name);
    const ended = { name, resource, does, status, ...(why === undefined ? {} : { why }) };
    if (at < 0) this.#ended.push(ended);
    else if (this.#ended[at]?.status === "works") this.#ended[at] = ended;
  }

  /** Creates, reads, compares and updates. */
  async #live(part: RehearsedPart): Promise<void> {
    const call = this.#call(part);
    const props: PartProps = { ...this.#rehearsal, idOf: (name) => this.#made.get(name)?.id ?? "" };
    const inputs = await this.#checked(call, {}, part.first(props));
    const { journal } = this.#rehearsal;
    const thing = thingOf(part);
    const number = thing && journal.making(thing);
    const made: Made = { part, ...(await this.#created(call, inputs, number)), inputs, number };
    this.#made.set(part.name, made);
    await this.#compare(call, made);
    if (!part.second) return;
    made.inputs = await this.#checked(call, made.inputs, part.second(props));
    const { changed } = await this.#operations.diff(call, made.id, made.outputs, made.inputs);
    if (changed.length === 0) throw new Error("a change is not seen: what was read back is what was not declared yet");
    made.outputs = await this.#operations.update(call, made.id, made.outputs, made.inputs);
    await this.#compare(call, made);
  }

  async #created(call: Call, inputs: Properties, number: number | undefined) {
    const { journal } = this.#rehearsal;
    try {
      const made = await this.#operations.create(call, inputs);
      if (number !== undefined && isThing(call)) journal.made(number, [made.id]);
      return made;
    } catch (error) {
      if (error instanceof Failure && error.partial && number !== undefined && isThing(call)) {
        journal.made(number, [error.partial.id]);
      }
      throw error;
    }
  }

  async #checked(call: Call, olds: Properties, news: Properties): Promise<Properties> {
    const { inputs, problems } = await this.#operations.check(call, olds, withURN(call, news));
    if (problems.length > 0) throw new Error(problems.join("; "));
    return withURN(call, inputs);
  }

  /** Reads what was written, as the next run does: a difference would be written again by each `up`. */
  async #compare(call: Call, made: Made): Promise<void> {
    const found = await this.#operations.read(call, made.id, withURN(call, made.outputs), made.inputs);
    if (!found) throw new Error("it was made, and can't be read: the next refresh would take it for deleted");
    made.outputs = withURN(call, found.outputs);
    const { changed } = await this.#operations.diff(call, made.id, made.outputs, made.inputs);
    if (changed.length > 0) {
      throw new Error(`${changed.join(", ")} reads back otherwise than it was written: each up would write it again`);
    }
  }

  async #delete({ part, id, outputs, number }: Made): Promise<void> {
    const call = this.#call(part);
    await this.#operations.delete(call, id, outputs);
    if (isOneThing(call) && (await this.#operations.read(call, id, outputs))) {
      throw new Error("it was deleted, and can still be read: the next up would find it");
    }
    if (number !== undefined && isThing(call)) this.#rehearsal.journal.removed(number);
  }

  #call({ name, resource: type }: RehearsedPart): Call & { urn: string } {
    const resource = resourceNamed(type);
    if (!resource) throw new Error(`there is no ${type}`);
    return { resource, urn: `urn:pulumi:verify::${this.#rehearsal.mark}::microapps:index:${type}::${name}` };
  }
}

const withURN = ({ urn }: Call, properties: Properties): Properties => ({ ...properties, resourceUrn: urn });

/** False for a set of rows or members, which is there without any: its own deletion looks for what is left. */
const isOneThing = ({ resource }: Call): boolean => !["SeedRows", "TeamRoster", "UserTeams"].includes(resource.name);

const isThing = ({ resource }: Call): boolean => resource.name === "Team" || resource.name === "Organization";

/** The entry of a journal for what a part makes: a member goes with its team, a record with its row. */
function thingOf({ resource, table }: RehearsedPart): JournalThing | undefined {
  if (resource === "Team") return { kind: "team" };
  if (resource === "Organization") return { kind: "organization" };
  return table === undefined ? undefined : { kind: "row", table, isBatch: true };
}
