import * as engine from "../../engine/decide.ts";
import { isProperties, type PropertyMap, type PropertyValue, type ResourceState } from "../../engine/decide.ts";
import { today } from "../../machine/today.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { completeDialect } from "../../platform/profile/profile.ts";
import { type DeclaredThing, things, topName } from "../../provider/environment/things.ts";
import { environmentOf, registerEnvironment } from "../../provider/pulumi/plugin/environment.ts";
import {
  check,
  diff,
  foreseen,
  type Properties,
  toKeyed,
  toListed,
  unhidden,
  unknownValue,
} from "../../provider/pulumi/properties.ts";
import { factsOf, ResourceError } from "../../provider/resources/common.ts";
import { Journal } from "../../provider/resources/journal.ts";
import type { OfflineContext, Resource } from "../../provider/resources/resource.ts";
import { resourceNamed } from "../../provider/resources/resources.ts";
import { Run } from "../../provider/resources/run.ts";
import { summarize } from "../../provider/seedRows/declaration.ts";
import type { Seed } from "../../provider/seedRows/inputs.ts";
import { encodeLedger, type Ledger } from "../../provider/seedRows/ledger.ts";
import type { RowsAhead } from "../../provider/seedRows/plan.ts";
import { SourceError } from "../../provider/seedRows/source/read.ts";
import type { Declared } from "./environments.ts";

type PlannedOperation = "create" | "update" | "replace" | "delete" | "same";

/** The plan for one thing: its declaration, its known state, and the operation. */
export interface PlannedStep extends Noted {
  operation: PlannedOperation;
  /** The last part of its type, such as Team. */
  kind: string;
  /** Its name in the file: `acme/crew`. */
  name: string;
  thing?: DeclaredThing;
  known?: KnownThing;
}

interface Noted {
  /** True for a seed whose rows can't be read here, or may be those of such a seed of the same table. */
  isUnread?: boolean;
  /** Why they can't, where a file says so. */
  why?: string;
  /** The inputs as they are declared, and as they were checked. */
  declared: Properties;
  inputs: Properties;
  changed: readonly string[];
  rows?: RowsAhead;
  /** The rows that a deletion takes, of a seed that is replaced. */
  departing?: RowsAhead;
  lines: string[];
  problems: string[];
  refusals: string[];
}

/** What becomes of what is known, as the engine decides it. */
export type Plan = readonly PlannedStep[];

/** A thing before a run: of a state, or of a declaration with the outputs that its creation would have left. */
interface KnownThing {
  /** As it was called then. */
  name: string;
  id: string;
  inputs: Properties;
  outputs: Properties;
  /** True if it stays on the platform when it leaves: an up has saved retain. */
  isRetained?: boolean;
  /** How it was declared, where it is of a declaration. */
  thing?: DeclaredThing;
  /** Why nobody knows the rows that were applied, where that is no secret. */
  why?: string;
  /** Secrets of the state, which are taken to be what is declared. */
  sealed?: readonly string[];
}

/** What there is before a plan: the resources of a state, and what is known of them beside it. */
export interface Before {
  root: string;
  project: string;
  stack: string;
  state: readonly ResourceState[];
  known: ReadonlyMap<string, Pick<KnownThing, "thing" | "why">>;
}

/** Where a plan is made: the program's folder, and why a source in it is not read although it is there. */
interface Place extends Pick<Declared, "folder" | "unread"> {
  /** True where nothing guards rows and people: what is declared is compared, whatever a run may do. */
  isOpen?: boolean;
}

/** What makes a run reconcile all that is declared. */
const open: Readonly<Record<string, Properties>> = {
  SeedRows: { maxRemovals: 1, mode: "exact", onConflict: "overwrite" },
  TeamRoster: { maxRemovals: 1, mode: "authoritative", minAdmins: 0, keepSelf: false },
};

const own = "microapps";
const places = { root: "environment", project: "plan", stack: "plan" };

/** Resources of a state, as the plugin has them below an Environment: what they need of others is left out. */
export function toBefore(
  resources: readonly ResourceState[],
  known: Before["known"] = new Map(),
  at: Partial<Pick<Before, "root" | "project" | "stack">> = {},
): Before {
  const place = { ...places, ...at };
  const urn = `urn:pulumi:${place.stack}::${place.project}::pulumi:providers:${own}::default`;
  const provider = engine.newState({ urn, type: `pulumi:providers:${own}`, custom: true, id: "plan" });
  const urns = new Set(resources.map((each) => each.urn));
  const among = (all: readonly string[]): string[] => all.filter((one) => urns.has(one));
  const state = resources.map((each) => {
    const needs = Object.entries(each.propertyDependencies).map(([name, all]) => [name, among(all)] as const);
    const own = { type: typeIn(each.urn), provider: `${urn}::plan`, parent: "", deletedWith: "" };
    const propertyDependencies = Object.fromEntries(needs);
    return { ...each, ...own, dependencies: among(each.dependencies), propertyDependencies };
  });
  return { ...place, state: [provider, ...state], known };
}

/** The state that the up of a declaration would have left. */
export async function applied({ declaration, folder, unread }: Declared, isOpen = false): Promise<Before> {
  const all = things(declaration, topName(places.root));
  const provider = new OfflineProvider({ folder, unread, isOpen }, places.root);
  const goals = goalsOf(places.root, all, provider);
  const { state } = await engine.decide({ ...places, ...goals, state: [], applies: true });
  provider.assertSound();
  const declared = new Map(all.map((thing) => [thing.key, thing]));
  const known = state.map(({ urn }) => {
    const thing = declared.get(keyOf(urn, places.root));
    const { why } = provider.noteOf(urn);
    return [urn, { ...(thing && { thing }), ...(why !== undefined && { why }) }] as const;
  });
  return { ...places, state, known: new Map(known) };
}

const goalsOf = (root: string, all: DeclaredThing[], provider: engine.ResourceProvider) => ({
  ...{ package: own, provider },
  goals: async (monitor: Parameters<typeof registerEnvironment>[0]): Promise<void> =>
    void (await registerEnvironment(monitor, environmentOf(root, all))),
});

const maxRounds = 4;

/** Decides as the engine does, with our own provider in this process. Sends and writes nothing. */
export async function planOf(
  { folder, unread }: Place,
  before: Before,
  all: DeclaredThing[],
  isOpen = false,
): Promise<Plan> {
  const { root } = before;
  const provider = new OfflineProvider({ folder, unread, isOpen }, root, before);
  let last = "";
  for (let round = 1; ; round++) {
    provider.notes.clear();
    const { steps, refusals } = await engine.decide({ ...before, ...goalsOf(root, all, provider) });
    for (const { op, old } of steps) if (op === "delete" && old && isOurs(old.urn)) await provider.depart(old);
    const planned = toPlanned(steps, all, before, provider);
    provider.assertSound();
    for (const { urn = "", message } of refusals) {
      const found = planned.find(({ kind, name }) => `${kind} ${name}` === keyOf(urn, root));
      if (found && !found.refusals.includes(message)) found.refusals.push(message);
    }
    const now = JSON.stringify(planned.map(({ operation, lines, refusals: why }) => [operation, lines, why]));
    if (now === last || round === maxRounds || !sharesTables(planned)) return planned;
    last = now;
  }
}

/** True if one seed may take what another one gives up. */
function sharesTables(planned: readonly PlannedStep[]): boolean {
  const tables = planned.flatMap(({ thing, known }) => [...new Set([thing?.inputs["table"], known?.outputs["table"]])]);
  const named = tables.filter((table) => table !== undefined);
  return new Set(named).size < named.length;
}

function toPlanned(
  steps: readonly engine.Step[],
  all: readonly DeclaredThing[],
  before: Before,
  provider: OfflineProvider,
): PlannedStep[] {
  const { root, state } = before;
  const made = new Map<string, PlannedStep>();
  const declared = new Map(all.map((thing) => [thing.key, thing]));
  for (const { op, urn, old } of steps) {
    const [operation, note, key] = [operations[op], provider.noteOf(urn), keyOf(urn, root)];
    if (operation === undefined || !isOurs(urn)) continue;
    const known = old && knownOf(old, before, note.declared);
    const thing = operation === "delete" ? undefined : declared.get(key);
    const step = { ...note, operation, kind: kindIn(typeIn(urn)), name: key.slice(key.indexOf(" ") + 1) };
    made.set(thing?.key ?? `delete ${urn}`, { ...step, ...(thing && { thing }), ...(known && { known }) });
  }
  return [...all.map(({ key }) => key), ...state.map(({ urn }) => `delete ${urn}`)].flatMap((of) => made.get(of) ?? []);
}

const operations: Readonly<Partial<Record<engine.Step["op"], PlannedOperation>>> = {
  ...{ create: "create", update: "update", same: "same", delete: "delete" },
  ...{ replace: "replace", "create-replacement": "replace" },
};

function knownOf(old: ResourceState, { known, root }: Before, declared: Properties): KnownThing {
  const { urn, id, retainOnDelete, inputs, outputs } = old;
  const key = keyOf(urn, root);
  const sealed = Object.entries({ ...inputs, ...outputs }).flatMap(([name, value]) => (isSealed(value) ? [name] : []));
  return {
    ...{ name: key.slice(key.indexOf(" ") + 1), id, isRetained: retainOnDelete, sealed },
    ...{ inputs: opened(inputs, declared), outputs: opened(outputs, declared) },
    ...known.get(urn),
  };
}

/** True for one of our resources: the engine also has the Environment, and the provider. */
const isOurs = (urn: string): boolean => resourceNamed(kindIn(typeIn(urn))) !== undefined;

const typeIn = (urn: string): string => urn.split("::")[2]?.split("$").at(-1) ?? "";
const kindIn = (type: string): string => type.slice(type.lastIndexOf(":") + 1);

function keyOf(urn: string, root: string): string {
  const name = urn.split("::").slice(3).join("::");
  return `${kindIn(typeIn(urn))} ${name.slice(root.length + 1)}`;
}

/** True for a value of a state that is a secret, or holds one, which nobody can read here. */
export const isSealed = (value: PropertyValue): boolean =>
  engine.containsSecret(value) && engine.containsUnknown(value);

/** Values of a state; sealed ones are taken to be what is declared. */
const opened = (values: PropertyMap, declared: Properties): Properties =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const now = isSealed(value) ? declared[name] : plainly(value);
      return now === undefined ? [] : [[name, now]];
    }),
  );

export function plainly(value: PropertyValue): unknown {
  if (value instanceof engine.Secret) return plainly(value.value);
  if (value instanceof engine.Unknown) return unknownValue;
  if (Array.isArray(value)) return value.map(plainly);
  return isProperties(value) ? toPlain(value) : value;
}

export const toPlain = (values: PropertyMap): Properties =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, plainly(value)]));

const begun = (): Noted => ({ declared: {}, inputs: {}, changed: [], lines: [], problems: [], refusals: [] });

/**
 * Our own provider without a platform: checks and compares as a run's does, and keeps what it has to say. Problems and
 * refusals end no run here, so that a report has all of them.
 */
class OfflineProvider implements engine.ResourceProvider {
  readonly #place: Place;
  readonly #root: string;
  readonly #run: Run;
  readonly notes = new Map<string, Noted>();
  /** Tables whose rows can't be known here: what such a seed of a state gives up another one may take. */
  readonly #sealed: ReadonlySet<unknown>;
  #failure: Error | undefined;

  constructor(place: Place, root: string, before?: Before) {
    [this.#place, this.#root, this.#run] = [place, root, new Run(place.folder)];
    const seeds = (before?.state ?? []).filter(({ type }) => kindIn(type) === "SeedRows");
    this.#sealed = new Set(seeds.flatMap(({ outputs }) => (outputs["ledger"] === undefined ? [outputs["table"]] : [])));
  }

  noteOf(urn: string): Noted {
    const note = this.notes.get(urn) ?? begun();
    this.notes.set(urn, note);
    return note;
  }

  /** Throws what was no refusal of ours: the engine took it for one. */
  assertSound(): void {
    if (this.#failure) throw this.#failure;
  }

  async check(urn: string, last: PropertyMap, news: PropertyMap): Promise<engine.Checked> {
    const [resource, note] = [resourceOf(kindIn(typeIn(urn))), this.noteOf(urn)];
    // All seeds are known in the second round.
    const { siblings: _, referrers: __, ...declared } = unhidden(resource, toPlain(news));
    note.declared = { ...declared, ...(this.#place.isOpen ? open[resource.name] : {}), resourceUrn: urn };
    const olds = opened(last, note.declared);
    const { source, table } = declared;
    const why = typeof source === "string" ? this.#place.unread?.(source) : undefined;
    if (why !== undefined) note.why = why;
    note.isUnread ||=
      why !== undefined ||
      (resource.name === "SeedRows" && [table, olds["table"]].some((each) => this.#sealed.has(each)));
    const checked =
      !note.isUnread &&
      (await this.#refusing(() => {
        const listed = toListed(resource, note.declared, olds);
        return check(resource, this.#context(note), toListed(resource, olds), listed);
      }, undefined));
    note.inputs = checked ? toKeyed(resource, checked.inputs) : note.declared;
    note.problems = (checked || { problems: [] }).problems.map(({ reason }) => reason);
    return { inputs: note.inputs as PropertyMap, failures: [] };
  }

  async diff({ urn }: { urn: string }, old: engine.InputsAndOutputs, inputs: PropertyMap): Promise<engine.Difference> {
    const [resource, known] = [resourceOf(kindIn(typeIn(urn))), this.noteOf(urn)];
    // An engine also asks what would be if something else were replaced.
    const isAsked = inputs === known.inputs;
    const note = isAsked ? known : begun();
    const news = isAsked ? known.inputs : { ...toPlain(inputs), resourceUrn: urn };
    const outputs = { ...opened(old.outputs, news), resourceUrn: urn };
    delete note.rows;
    const refused = (message: string): void => void (note.problems.length > 0 || note.refusals.push(message));
    // Without its own comparison, a resource compares the inputs alone.
    const plain = { ...resource, diff: undefined } as unknown as Resource;
    const comparison =
      (await this.#refusing(
        () => (note.isUnread ? undefined : diff(resource, this.#context(note), outputs, toListed(resource, news))),
        refused,
      )) ?? (await diff(plain, this.#context(note), outputs, news));
    if (isAsked) this.#run.note(urn, comparison.findings);
    const { changed, replaces } = comparison;
    note.changed = changed;
    if (isAsked && replaces.length > 0) await this.#depart(note, { urn, resource, outputs }, "departing");
    const { deleteBeforeReplace = false } = resource;
    const changes = changed.length > 0 ? "some" : "none";
    return { changes, changed: [...changed], replaces: [...replaces], deleteBeforeReplace };
  }

  /** Plans a deletion, with its refusals. */
  async depart({ urn, type, outputs, retainOnDelete }: ResourceState): Promise<void> {
    const state = { ...opened(outputs, {}), resourceUrn: urn, ...(retainOnDelete ? { onDestroy: "retain" } : {}) };
    const note = this.noteOf(urn);
    note.isUnread = kindIn(type) === "SeedRows" && this.#sealed.has(outputs["table"]);
    await this.#depart(note, { urn, resource: resourceOf(kindIn(type)), outputs: state }, "rows");
  }

  async #depart(
    note: Noted,
    { urn, resource, outputs }: { urn: string; resource: Resource; outputs: Properties },
    into: "rows" | "departing",
  ): Promise<void> {
    if (note.isUnread || !resource.departs) return;
    const found = begun();
    const findings = await this.#refusing(
      () => resource.departs?.(this.#context(found), outputs),
      // A run ends with the first one.
      (message) => void (note.refusals.includes(message) || note.refusals.push(message)),
    );
    this.#run.note(urn, findings);
    if (found.rows) note[into] = found.rows;
    note.lines.push(...found.lines);
  }

  async create(urn: string, _inputs: PropertyMap, _timeout: number, isPreview: boolean): Promise<engine.Created> {
    const [resource, note] = [resourceOf(kindIn(typeIn(urn))), this.noteOf(urn)];
    const { rows: _, ...left } = note.inputs;
    const planned = foreseen(resource, left);
    if (isPreview) return { id: "", outputs: planned as PropertyMap, refreshBeforeUpdate: false };
    const known = Object.fromEntries(Object.entries(planned).filter(([, value]) => value !== unknownValue));
    const rows = resource.name === "SeedRows" && !note.isUnread ? await this.#rowsOf(note) : {};
    const outputs = rows ? { ...(Object.keys(rows).length > 0 ? left : peopled(known)), ...rows } : known;
    return { id: keyOf(urn, this.#root), outputs: outputs as PropertyMap, refreshBeforeUpdate: false };
  }

  /** What a seed leaves of its rows; undefined where they have a mistake. */
  async #rowsOf(note: Noted): Promise<Properties | undefined> {
    const seed = note.inputs as unknown as Seed; // it was checked
    const { digest, resourceUrn } = note.inputs as { digest?: string; resourceUrn?: string };
    const summary = await this.#refusing(
      async () => this.#run.rowClaims.remembered(resourceUrn, digest) ?? (await summarize(seed, this.#place.folder)),
      (message) => void (note.why = `those of the base have a mistake: ${message.split("\n", 1).join()}`),
    );
    if (!summary) return undefined;
    const ledger: Ledger = { kind: "list", count: summary.rows.length, rows: summary.rows };
    const { labels, rowLabels } = summary;
    return { rowCount: ledger.count, ledger: encodeLedger(ledger), labels, labelled: rowLabels.counts() };
  }

  update = ({ urn }: { urn: string }, _old: unknown, inputs: PropertyMap): Promise<engine.Created> =>
    this.create(urn, inputs, 0, true);

  #context(note: Noted): OfflineContext {
    const say = (text: string): void => void note.lines.push(text);
    const rows = (ahead: RowsAhead): void => void (note.rows = ahead);
    return {
      report: { status: () => undefined, info: say, forecast: say, warning: say, rows },
      ...{ directory: this.#place.folder, day: today(), dialect: completeDialect(), platform: "", account: {} },
      ...this.#run.known,
      journal: new Journal(() => ""),
      seed: () => digestKey,
      isPlan: true,
    };
  }

  /** Takes a refusal as an answer. Keeps any other failure, of which the engine would only repeat the words. */
  async #refusing<Answer>(
    work: () => Promise<Answer> | Answer,
    refused: ((message: string) => void) | undefined,
  ): Promise<Answer | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!refused || !(error instanceof ResourceError || error instanceof SourceError)) {
        this.#failure = error as Error;
        throw error;
      }
      refused(error.message);
      return undefined;
    }
  }

  checkConfig = (_urn: string, _old: PropertyMap, inputs: PropertyMap) => Promise.resolve({ inputs, failures: [] });
  diffConfig = () =>
    Promise.resolve({ changes: "none" as const, replaces: [], changed: [], deleteBeforeReplace: false });
  configure = (): Promise<void> => Promise.resolve();
  delete = (): Promise<void> => Promise.resolve();
  close = (): Promise<void> => Promise.resolve();
  cancel = (): void => undefined;
  read = (): Promise<never> => Promise.reject(new Error("a plan reads nothing"));
  invoke = this.read;
}

const digestKey = new Uint8Array(32).fill(7);

/** People by their addresses, where a platform would have stated them IDs. */
function peopled(outputs: Properties): Properties {
  const { email, userID, members, appID } = outputs;
  if (appID !== undefined) return { ...outputs, status: "ready" };
  if (isObject(members)) return { ...outputs, userIDs: Object.keys(members).toSorted() };
  const named = [userID, email].find((one) => typeof one === "string");
  return named === undefined ? outputs : { ...outputs, memberUserID: named };
}

export const resourceOf = (kind: string): Resource => {
  const found = resourceNamed(kind);
  if (!found) throw new Error(`there is no ${kind}`);
  return found;
};

/** True if a run heeds another value of a setting: what no diff shows is read by the run, where files say it. */
export function isHeeded({ thing, kind, known, changed }: PlannedStep, name: string): boolean {
  const schema: unknown = thing && resourceOf(kind).inputs.shape[name];
  if (changed.includes(name)) return true;
  return known?.thing !== undefined && (schema === undefined || factsOf(schema).ignoredInDiff === true);
}
