import { today } from "../../machine/today.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { completeDialect } from "../../platform/profile/profile.ts";
import { type DeclaredThing, listLinkedInputs, things } from "../../provider/environment/things.ts";
import { check, foreseen, type Properties, toKeyed, toListed, unknownValue } from "../../provider/pulumi/properties.ts";
import { decodeLedger, encodeLedger, type Ledger } from "../../provider/reconcile/ledger.ts";
import { Journal } from "../../provider/resources/model/journal.ts";
import type { OfflineResourceContext, Resource } from "../../provider/resources/resource.ts";
import { Run } from "../../provider/resources/run.ts";
import { summarize } from "../../provider/seedRows/declaration.ts";
import type { Seed } from "../../provider/seedRows/inputs.ts";
import { SourceError } from "../../provider/seedRows/source/read.ts";
import { type KnownThing, resourceOf, urnOf } from "./planner.ts";
import type { Declared } from "./source.ts";
import { clear, openValue, type StackState, type StateResource } from "./state.ts";

/** Things of a declaration as its `up` would have left them. */
export async function toKnownDeclaration(declared: Declared): Promise<KnownThing[]> {
  const { folder, unread } = declared;
  const run = new Run(folder);
  const context = contextOf(folder, run);
  const known: KnownThing[] = [];
  for (const thing of things(declared.declaration)) {
    const { kind, key, inputs: stated } = thing;
    const resource = resourceOf(kind);
    const inputs: Properties = {
      ...withoutNothing(stated),
      ...withoutNothing(listLinkedInputs(thing, ({ of, id }) => of ?? id)),
      resourceUrn: urnOf(kind, thing.name.now),
    };
    const own = { key, kind, name: key.slice(key.indexOf(" ") + 1), id: key, thing, isRetained: thing.retain ?? false };
    const source = typeof stated["source"] === "string" ? unread?.(stated["source"]) : undefined;
    if (source !== undefined) {
      known.push({ ...own, inputs, outputs: foreseenOf(resource, inputs), rows: "none", why: source });
      continue;
    }
    const checked = await check(resource, context, {}, toListed(resource, inputs));
    const { rows: _, ...left } = checked.inputs;
    if (kind !== "SeedRows") {
      known.push({ ...own, inputs: checked.inputs, outputs: peopled(foreseenOf(resource, left)) });
      continue;
    }
    known.push({ ...own, ...(await seeded(resource, checked.inputs, left, folder, run)) });
  }
  return known;
}

async function seeded(
  resource: Resource,
  inputs: Properties,
  left: Properties,
  folder: string,
  run: Run,
): Promise<Pick<KnownThing, "inputs" | "outputs" | "rows" | "why">> {
  try {
    const seed = inputs as unknown as Seed; // it was checked
    const { digest, resourceUrn } = inputs as { digest?: string; resourceUrn?: string };
    const summary = run.rowClaims.remembered(resourceUrn, digest) ?? (await summarize(seed, folder));
    const ledger: Ledger = { kind: "list", count: summary.rows.length, rows: summary.rows };
    const outputs = {
      ...left,
      rowCount: ledger.count,
      ledger: encodeLedger(ledger),
      labels: summary.labels,
      labelled: summary.rowLabels.counts(),
    };
    return { inputs: toKeyed(resource, inputs), outputs, rows: "all" };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    const [first = ""] = error.message.split("\n", 1);
    const why = `those of the base have a mistake: ${first}`;
    return { inputs, outputs: foreseenOf(resource, left), rows: "none", why };
  }
}

function contextOf(folder: string, run: Run): OfflineResourceContext {
  const nothing = (): void => undefined;
  return {
    report: { status: nothing, info: nothing, forecast: nothing, warning: nothing },
    directory: folder,
    day: today(),
    dialect: completeDialect(),
    platform: "",
    account: {},
    ...run.known,
    journal: new Journal(() => ""),
    organizationNames: new Map(),
    seed: () => new Uint8Array(32).fill(7),
    isPlan: true,
  };
}

const withoutNothing = (values: Readonly<Record<string, unknown>>): Properties =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** The outputs of a thing as far as they are known before it is made. */
const foreseenOf = (resource: Resource, inputs: Properties): Properties =>
  Object.fromEntries(Object.entries(foreseen(resource, inputs)).filter(([, value]) => value !== unknownValue));

/** People by their addresses, where a platform would have stated them IDs. */
function peopled(outputs: Properties): Properties {
  const { email, userID, members, appID } = outputs;
  if (appID !== undefined) return { ...outputs, status: "ready" };
  if (isObject(members)) return { ...outputs, userIDs: Object.keys(members).toSorted() };
  const named = [userID, email].find((one) => typeof one === "string");
  return named === undefined ? outputs : { ...outputs, memberUserID: named };
}

/**
 * Things of a state below its Environment. Secrets of the state can't be read here: their values are taken to be the
 * declared ones, and rows whose digests are keyed by one are not compared.
 */
export function toKnownState({ resources }: StackState, root: string, head: Declared): KnownThing[] {
  const wanted = new Map<string, DeclaredThing>(
    things(head.declaration).flatMap((thing) =>
      [thing.name.now, ...thing.name.own, ...thing.name.inherited].map(
        (name) => [`${thing.kind} ${name.slice(1)}`, thing] as const,
      ),
    ),
  );
  const below = resources.filter(({ name }) => name.startsWith(`${root}/`));
  return below.map((each) => {
    const name = each.name.slice(root.length + 1);
    const key = `${each.kind} ${name}`;
    const known: KnownThing = {
      ...{ key, kind: each.kind, name, id: each.id },
      inputs: clearly(each.values),
      outputs: clearly(each.outputs ?? each.values),
      isUnfinished: each.isUnfinished ?? false,
      isRetained: each.isRetained ?? false,
      keepsCells: each.isOfPlugin ?? false,
      sealed: Object.entries(each.values).flatMap(([name, value]) => (openValue(value) ? [] : [name])),
    };
    return each.kind === "SeedRows" ? ofSeed(known, each, wanted.get(key)) : unsealed(known, wanted.get(key));
  });
}

const clearly = (values: Readonly<Record<string, unknown>>): Properties =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (openValue(value) ? [[name, clear(value)]] : [])),
  );

/** Replaces sealed values, which can't be read here, by the declared ones. */
function unsealed(known: KnownThing, thing: DeclaredThing | undefined): KnownThing {
  const { sealed = [] } = known;
  const same = Object.fromEntries(
    sealed.flatMap((name) => (thing?.inputs[name] === undefined ? [] : [[name, thing.inputs[name]]])),
  );
  return { ...known, inputs: { ...known.inputs, ...same }, outputs: { ...known.outputs, ...same } };
}

/** A seed of a state. Where the salt of its digests is secret, nothing here knows what its rows say. */
function ofSeed(stated: KnownThing, { values }: StateResource, thing: DeclaredThing | undefined): KnownThing {
  const all = unsealed(stated, thing);
  // Labels of secret rows are a secret, too: which of them go is seen by the run.
  const known = { ...all, outputs: { labels: [], ...all.outputs } };
  const unread = { ...known, outputs: { ...known.outputs, ledger: undefined }, rows: "none" as const };
  if (typeof openValue(values["salt"])?.value !== "string") return unread;
  try {
    decodeLedger(String(values["ledger"]));
    return { ...known, rows: "all" };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { ...unread, why: error.message };
  }
}
