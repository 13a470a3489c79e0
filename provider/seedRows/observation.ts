import { orUndefinedIfNotFound } from "../../platform/contract/errors.ts";
import { withoutUndefined } from "../../platform/contract/values.ts";
import { decodeLedger } from "../reconcile/ledger.ts";
import { planRows } from "../reconcile/rows.ts";
import type { RowSet } from "../reconcile/rowSet.ts";
import { type Observed, ResourceError } from "../resources/model/resource.ts";
import { keyOf, keysOf } from "./declared/declaration.ts";
import { lastSource, withLastSource } from "./declared/summaries.ts";
import { EditedRows, type Drift, type FoundSecrets } from "./drift.ts";
import { maxShown } from "./forecast.ts";
import { scopeOfState } from "./kept/scope.ts";
import { optionsOf, type SeedState } from "./kept/state.ts";
import type { RowContext } from "./live/context.ts";
import { FoundRows } from "./live/foundRows.ts";
import { Links } from "./live/links.ts";
import { liveRows, type ObserveRow } from "./live/liveRows.ts";
import { TableCheck } from "./live/tableCheck.ts";

/** The first keys of missing rows: from the state, or from the source that was applied. */
async function missingKeys(
  context: RowContext,
  state: SeedState,
  wanted: RowSet,
  missing: readonly number[],
): Promise<string[]> {
  const first = context.watch ? missing : missing.slice(0, maxShown);
  if (state.keys) return first.flatMap((index) => state.keys?.[index] ?? []);
  const keys = await withLastSource(context, state, ({ rows }, seed, directory) => {
    const indices = first.flatMap((index) => rows.find(wanted.key(index)) ?? []);
    return keysOf(seed, directory, new Set(indices));
  });
  return keys ?? [];
}

/** Additions of an observation to a state. */
interface Observation {
  drift?: Drift | undefined;
  foundSecrets?: FoundSecrets | undefined;
  /** Expectations that do not hold. */
  unmet?: string[] | undefined;
}

/**
 * Reads the state with the drift of our rows, and the rows of the program as they are on the platform; undefined when
 * there is no such table.
 */
export async function observe<Applied extends SeedState & Observation>(
  platform: RowContext,
  state: Applied,
): Promise<Omit<Observed<Omit<Applied, keyof Observation | "rows"> & Observation>, "id"> | undefined> {
  const context = { ...platform, fromCache: true };
  const { drift: before, foundSecrets: secretsBefore, unmet, rows, ...last } = state;
  const ledger = decodeLedger(state.ledger);
  const links = await Links.of(context, state);
  const wanted = ledger.kind === "list" ? ledger.rows : (await lastSource(context, state))?.rows;
  if (!wanted) {
    const sentence = `the source is not the one that was applied any more, so edits by hand in table ${state.table} show only in the update`;
    if (platform.readsFirst) context.report.info(sentence);
    else context.report.warning(sentence);
    const seen = withoutUndefined({ drift: before, foundSecrets: secretsBefore, unmet });
    return { outputs: { ...last, ...seen } };
  }
  const declared = rows && ledger.kind === "list" && !state.sensitive ? new FoundRows(state, rows) : undefined;
  const edited = new EditedRows(state);
  const unlinked: string[] = [];
  const expected = state.expect && (await TableCheck.of(context, state));
  const see: ObserveRow = ({ index, content, values, dangling }) => {
    expected?.add(values);
    if (index === undefined) {
      platform.watch?.foreign(values);
      return;
    }
    declared?.observe(values);
    if (wanted.hasContent(index, content)) return;
    edited.observe(keyOf(state.key, values), values);
    platform.watch?.changed(keyOf(state.key, values), values);
    if (dangling) unlinked.push(keyOf(state.key, values));
  };
  const reading = liveRows(context, state, scopeOfState(state), links, wanted, ledger, see);
  const live = await orUndefinedIfNotFound(reading);
  if (!live) {
    context.report.warning(`table ${state.table} is not on the platform any more, nor are the rows in it`);
    return undefined;
  }
  const inputs = declared ? { inputs: declared.inputs() } : {};
  const broken = expected?.sentences(live.total) ?? [];
  const rest = broken.length > 0 ? { ...last, unmet: broken } : last;
  const { drift, vanished } = planRows(wanted, ledger, live, {
    ...optionsOf(state),
    lostData: context.lostData,
  });
  const judgedLater = platform.readsFirst && drift.missing.length > 0;
  if (vanished !== undefined && !judgedLater) throw new ResourceError(`table ${state.table}: ${vanished}`);
  const [changed, missing] = [drift.edited.length, drift.missing.length];
  if (changed + missing === 0) return { outputs: rest, ...inputs };
  const removed = missing === 0 || state.sensitive ? [] : await missingKeys(context, state, wanted, drift.missing);
  platform.watch?.missing(removed);
  const first = (keys: string[]): string[] => (state.sensitive ? [] : keys.slice(0, maxShown));
  const tellsCells = !state.sensitive && changed > 0;
  const found = tellsCells ? { found: edited.found } : {};
  const lost = unlinked.length === 0 ? {} : { unlinked: unlinked.length, unlinkedKeys: first(unlinked) };
  const seen = { changed, missing, changedKeys: first(edited.keys), missingKeys: first(removed), ...found, ...lost };
  const secrets = withoutUndefined({ foundSecrets: tellsCells ? edited.secrets : undefined });
  return { outputs: { ...rest, drift: seen, ...secrets }, ...inputs };
}
