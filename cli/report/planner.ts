import { today } from "../../machine/today.ts";
import { completeDialect } from "../../platform/profile/profile.ts";
import { type DeclaredThing, listLinkedInputs } from "../../provider/environment/things.ts";
import { check, diff, type Properties, toKeyed, toListed, unknownValue } from "../../provider/pulumi/properties.ts";
import type { RowsAhead } from "../../provider/reconcile/rows.ts";
import { toPlannedUrn } from "../../provider/resources/model/identities.ts";
import { Journal } from "../../provider/resources/model/journal.ts";
import { factsOf, type OrganizationName, ResourceError } from "../../provider/resources/model/resource.ts";
import type { OfflineResourceContext, Resource } from "../../provider/resources/resource.ts";
import { resourceNamed } from "../../provider/resources/resources.ts";
import { type Findings, Run } from "../../provider/resources/run.ts";
import { SourceError } from "../../provider/seedRows/source/read.ts";

type PlannedOperation = "create" | "update" | "replace" | "delete" | "same";

/** The plan for one thing: its declaration, its known state, and the operation. */
export interface PlannedStep {
  operation: PlannedOperation;
  thing?: DeclaredThing;
  known?: KnownThing;
  /** True for a seed whose rows can't be read here, or may be those of such a seed of the same table. */
  isUnread?: boolean;
  /** The inputs as they were checked. */
  inputs: Properties;
  /** Names of what an update changes. */
  changed: readonly string[];
  rows?: RowsAhead;
  /** The rows that a deletion takes, of a seed that is replaced. */
  departing?: RowsAhead;
  /** Lines of the preview. */
  lines: string[];
  /** Problems of its inputs: an engine stops before it compares anything. */
  problems: string[];
  /** Why a run would refuse it, in the words of the run. */
  refusals: string[];
}

/** A set of things that is to become of what is known, as an engine does it. */
export interface Plan {
  steps: PlannedStep[];
}

/** Where a plan is made. */
interface Place {
  /** The program's folder. */
  folder: string;
  /** Why a source is not read although it is there. */
  unread?: ((source: string) => string | undefined) | undefined;
}

/** Digests stay in this process. */
const seed = new Uint8Array(32).fill(7);

/** Most times that what one thing gives up may change what becomes of another. */
const maxRounds = 4;

/** Does in one process what an engine does with a program: matches, checks and compares. Sends and writes nothing. */
export class Planner {
  readonly #place: Place;
  readonly #run: Run;
  readonly #organizationNames = new Map<string, OrganizationName>();
  readonly #steps = new Map<string, PlannedStep>();
  readonly #departing: PlannedStep[] = [];

  constructor(place: Place, known: readonly KnownThing[], things: readonly DeclaredThing[]) {
    this.#place = place;
    this.#run = new Run(place.folder);
    const left = new Map(known.map((each) => [each.key, each]));
    for (const thing of things) {
      const { kind, name } = thing;
      const [found] = [name.now, ...name.own, ...name.inherited].flatMap(
        (each) => left.get(`${kind} ${each.slice(1)}`) ?? [],
      );
      if (found) left.delete(found.key);
      const operation = found ? "same" : "create";
      this.#steps.set(thing.key, { ...begun(), thing, ...(found ? { known: found } : {}), operation });
    }
    // An engine deletes last things first.
    this.#departing = [...left.values()].toReversed().map((each) => ({ ...begun(), known: each, operation: "delete" }));
  }

  /** Marks the seeds whose rows can't be known here. What such a seed of a state gives up another one of its table may take. */
  #markUnread(all: readonly PlannedStep[]): void {
    const tables = new Set<unknown>();
    for (const step of all) {
      const { thing, known } = step;
      const source = thing?.inputs["source"];
      const isThere = typeof source !== "string" || this.#place.unread?.(source) === undefined;
      const isSealed = known?.kind === "SeedRows" && known.outputs["ledger"] === undefined;
      if (isSealed) tables.add(known.outputs["table"]);
      step.isUnread = !isThere || isSealed;
    }
    for (const step of all) {
      const { thing, known } = step;
      const ofSeed = [thing, known].some((each) => each?.kind === "SeedRows");
      if (
        ofSeed &&
        [thing?.inputs["table"], known?.outputs["table"]].some((table) => table !== undefined && tables.has(table))
      )
        step.isUnread = true;
    }
  }

  async plan(): Promise<Plan> {
    const all = [...this.#steps.values()];
    this.#markUnread([...all, ...this.#departing]);
    for (const step of all) await this.#check(step);
    let before = "";
    for (let round = 0; round < maxRounds; round++) {
      for (const step of this.#departing) await this.#depart(step, "rows");
      // A new seed finds out in its check which rows it takes over.
      if (round > 0) for (const step of all) if (!step.known) await this.#check(step);
      for (const step of all) await this.#compare(step);
      const now = this.#signature();
      if (now === before || !this.#isShared()) break;
      before = now;
    }
    return { steps: [...all, ...this.#departing.toReversed()] };
  }

  /** True if one seed may take what another one gives up. */
  #isShared(): boolean {
    const tables = [...this.#steps.values(), ...this.#departing].flatMap(({ thing, known }) => {
      if ((thing?.kind ?? known?.kind) !== "SeedRows") return [];
      return [...new Set([thing?.inputs["table"], known?.outputs["table"]].filter((table) => table !== undefined))];
    });
    return new Set(tables).size < tables.length;
  }

  /** Differs where another round may find something else. */
  #signature(): string {
    return JSON.stringify(
      [...this.#steps.values(), ...this.#departing].map(({ operation, lines, refusals }) => [
        operation,
        lines,
        refusals,
      ]),
    );
  }

  context(step: PlannedStep): OfflineResourceContext {
    const say = (text: string): void => void step.lines.push(text);
    const rows = (ahead: RowsAhead): void => void (step.rows = ahead);
    return {
      report: { status: () => undefined, info: say, forecast: say, warning: say, rows },
      directory: this.#place.folder,
      day: today(),
      dialect: completeDialect(),
      platform: "",
      account: {},
      ...this.#run.known,
      journal: new Journal(() => ""),
      organizationNames: this.#organizationNames,
      seed: () => seed,
      isPlan: true,
    };
  }

  /** The ID of another thing, if it is known before a run. */
  #idOf(key: string): string {
    const { known, operation } = this.#steps.get(key) ?? {};
    return known === undefined || operation === "replace" ? unknownValue : known.id;
  }

  /** The inputs that a program sends. */
  #declared({ thing, known }: PlannedStep): Properties {
    if (!thing) return {};
    const seeds = Object.entries(thing.seeds);
    const renewals = (key: string): unknown => this.#steps.get(key)?.known?.outputs["renewals"] ?? 0;
    const stated: Properties = {
      ...thing.inputs,
      ...listLinkedInputs(thing, ({ of, id }) => (of === undefined ? id : this.#idOf(of))),
      resourceUrn: urnOf(thing.kind, thing.name.now),
      ...(seeds.length === 0
        ? {}
        : {
            linkedSeeds: Object.fromEntries(
              seeds.map(([label, key]) => [label, urnOf("SeedRows", key.slice(key.indexOf(" ") + 1))]),
            ),
            linkRenewals: Object.fromEntries(seeds.map(([label, key]) => [label, renewals(key)])),
          }),
      ...known?.unknowns,
    };
    return Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined));
  }

  async #check(step: PlannedStep): Promise<void> {
    const { thing, known } = step;
    if (!thing || step.isUnread) return;
    step.lines = [];
    const resource = resourceOf(thing.kind);
    const olds = known?.inputs ?? {};
    const declared = toListed(resource, this.#declared(step), olds);
    const { inputs, problems } = await check(resource, this.context(step), toListed(resource, olds), declared);
    step.inputs = toKeyed(resource, inputs);
    step.problems = problems.map(({ reason }) => reason);
    step.operation = known ? "same" : "create";
  }

  async #compare(step: PlannedStep): Promise<void> {
    const { thing, known } = step;
    if (!thing || !known) return;
    const resource = resourceOf(thing.kind);
    if (step.isUnread) {
      await this.#compareSettings(step, resource);
      return;
    }
    if (step.operation === "replace" || this.#isRelinked(step)) await this.#check(step);
    step.lines = [];
    step.refusals = [];
    delete step.rows;
    const olds = { ...known.outputs, resourceUrn: step.inputs["resourceUrn"] };
    try {
      const comparison = await diff(resource, this.context(step), olds, toListed(resource, step.inputs));
      const { changed, replaces, findings } = comparison;
      this.#note(String(step.inputs["resourceUrn"]), findings);
      step.changed = changed;
      step.operation = replaces.length > 0 ? "replace" : changed.length > 0 || known.isUnfinished ? "update" : "same";
    } catch (error) {
      await this.#compareSettings(step, resource);
      const refusal = refusalOf(error);
      // An engine does not come that far where something is wrong with the inputs.
      if (step.problems.length === 0) step.refusals.push(refusal);
    }
    if (step.operation !== "replace") return;
    const { lines, refusals } = step;
    await this.#checkFresh(step, resource);
    await this.#depart(step, "departing");
    step.operation = "replace";
    step.lines = [...lines, ...step.lines];
    step.refusals = [...new Set([...refusals, ...step.refusals])];
  }

  /** True when a link leads to a thing that is created again. */
  #isRelinked({ thing, inputs }: PlannedStep): boolean {
    if (!thing) return false;
    const ids = listLinkedInputs(thing, ({ of, id }) => (of === undefined ? id : this.#idOf(of)));
    return Object.entries(ids).some(([name, id]) => JSON.stringify(inputs[name]) !== JSON.stringify(id));
  }

  /** Checks what comes in the place of something, as an engine does. */
  async #checkFresh(step: PlannedStep, resource: Resource): Promise<void> {
    step.lines = [];
    step.refusals = [];
    const declared = toListed(resource, this.#declared(step));
    const { inputs, problems } = await check(resource, this.context(step), {}, declared);
    step.inputs = toKeyed(resource, inputs);
    step.problems = problems.map(({ reason }) => reason);
  }

  /** Compares the inputs alone, where a full diff is impossible. */
  async #compareSettings(step: PlannedStep, resource: Resource): Promise<void> {
    const plain = { ...resource, diff: undefined } as unknown as Resource; // without its own comparison
    const inputs = Object.keys(step.inputs).length > 0 ? step.inputs : this.#declared(step);
    const { changed, replaces } = await diff(plain, this.context(step), step.known?.outputs ?? {}, inputs);
    step.inputs = inputs;
    step.changed = changed;
    step.operation = replaces.length > 0 ? "replace" : changed.length > 0 ? "update" : "same";
  }

  /** Plans a deletion, with its refusals. */
  async #depart(step: PlannedStep, into: "rows" | "departing"): Promise<void> {
    const { known } = step;
    if (!known) return;
    const found: PlannedStep = { ...begun(), operation: "delete" };
    const resource = resourceOf(known.kind);
    const retained = known.isRetained ? { onDestroy: "retain" } : {};
    const state = { ...known.outputs, ...retained, resourceUrn: urnOf(known.kind, known.name) };
    try {
      const findings =
        step.isUnread && known.kind === "SeedRows" ? {} : await resource.departs?.(this.context(found), state);
      this.#note(state.resourceUrn, findings);
    } catch (error) {
      const refusal = refusalOf(error);
      // A run ends with the first one.
      if (found.refusals.length === 0) found.refusals.push(refusal);
    }
    if (found.rows) step[into] = found.rows;
    step.lines = into === "rows" ? found.lines : [...step.lines, ...found.lines];
    step.refusals = into === "rows" ? found.refusals : [...step.refusals, ...found.refusals];
  }

  #note(urn: string, findings: Findings | undefined): void {
    if (!findings) return;
    this.#run.compared(urn, { changed: [], replaces: [], findings });
  }
}

const begun = (): Omit<PlannedStep, "operation"> => ({
  inputs: {},
  changed: [],
  lines: [],
  problems: [],
  refusals: [],
});

/** The words of a refusal; throws what is none. */
function refusalOf(error: unknown): string {
  if (error instanceof ResourceError || error instanceof SourceError) return error.message;
  throw error;
}

/** A thing before a run: of a state, or of a declaration with the outputs its creation would have left. */
export interface KnownThing {
  /** Type, and name below the Environment. */
  key: string;
  kind: string;
  name: string;
  id: string;
  /** The inputs of the last run. */
  inputs: Properties;
  /** Outputs of the last run, inputs included. */
  outputs: Properties;
  isUnfinished?: boolean;
  /** True if it stays on the platform when it leaves: an up has saved retain. */
  isRetained?: boolean;
  /** True if rows are read before they go, since other seeds may come that nobody knows of: through the plugin. */
  keepsCells?: boolean;
  /** How it was declared, where it is of a declaration. */
  thing?: DeclaredThing;
  /** The rows that were applied: all of them, or none, since nobody can read them here. */
  rows?: "all" | "none";
  /** Why it is none of them. */
  why?: string;
  /** Secrets of the state, which are taken to be what is declared. */
  sealed?: readonly string[];
  /** Inputs that a plan is made with in place of those of the program. */
  unknowns?: Properties;
}

export const urnOf = (kind: string, name: string): string => toPlannedUrn(kind, name.replace(/^\//, ""));

export const resourceOf = (kind: string): Resource => {
  const found = resourceNamed(kind);
  if (!found) throw new Error(`there is no ${kind}`);
  return found;
};

/** True if a run heeds another value of a setting: what no diff shows is read by the run, where files say it. */
export function isHeeded({ thing, known, changed }: PlannedStep, name: string): boolean {
  const schema: unknown = thing && resourceOf(thing.kind).inputs.shape[name];
  if (changed.includes(name)) return true;
  return known?.thing !== undefined && (schema === undefined || factsOf(schema).ignoredInDiff === true);
}
