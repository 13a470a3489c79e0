import type { Difference, Sides } from "../providers/provider.ts";
import type { Operator } from "../providers/registry.ts";
import { copyProperties } from "../state/checkpoint.ts";
import type { ResourceState } from "../state/resourceState.ts";
import { parsePath, type Path, pathContains, resetPath } from "../values/paths.ts";
import { type Change, changedKeys, changesBetween } from "../values/propertyChanges.ts";
import { mapProperties, property, type Properties, revealed } from "../values/values.ts";
import { detailedChanges } from "./detailedDiff.ts";
import type { Run } from "./run.ts";

/** Inputs with what `ignoreChanges` names set back to the old inputs. */
export function withIgnored(
  run: Run,
  urn: string,
  inputs: Properties,
  olds: Properties,
  ignoreChanges: readonly string[],
): Properties {
  if (ignoreChanges.length === 0) return inputs;
  const news = copyProperties(inputs);
  const failed = ignoreChanges.filter((path) => {
    const parsed = safePath(path);
    return parsed !== undefined && !resetPath(parsed, copyProperties(olds), news);
  });
  if (failed.length > 0) {
    const message = `cannot ignore changes in added or removed elements of the path: ${failed.join(", ")}`;
    run.emit({ type: "log", severity: "info", message, urn });
  }
  return news;
}

function safePath(text: string): Path | undefined {
  try {
    return parsePath(text);
  } catch {
    // As with Pulumi, a path that cannot be read ignores nothing.
    return undefined;
  }
}

/** Asks the provider; where it has no opinion, compares inputs without secret marks. */
export async function difference(
  run: Run,
  operator: Operator,
  old: Pick<ResourceState, "urn" | "id" | "inputs" | "outputs">,
  inputs: Properties,
  ignoreChanges: string[],
  preview: boolean,
): Promise<Difference> {
  const said = await operator.diff(old, old, inputs, ignoreChanges, preview);
  if (said.changes !== "unknown") return said;
  const news = withIgnored(run, old.urn, inputs, old.inputs, ignoreChanges);
  const changes = changesBetween(mapProperties(old.inputs, revealed), mapProperties(news, revealed));
  if (changes.length === 0) return { ...said, changes: "none" };
  return {
    ...said,
    changes: "some",
    changed: changedKeys(changes),
    detail: changes.map(({ path, kind }) => ({ path, change: { kind, replaces: false, input: true } })),
  };
}

/** Applies `replaceOnChanges`, which acts on the properties that a difference names. */
export function withReplaceOnChanges(
  said: Difference,
  replaceOnChanges: readonly string[],
  hasInitErrors: boolean,
): Difference {
  if (said.changes !== "some" && !hasInitErrors) return said;
  const paths = replaceOnChanges.map(parsePath);
  const hit = (path: Path): boolean => paths.some((outer) => pathContains(outer, path));
  const detail = said.detail?.map(({ path, change }) => ({
    path,
    change: hit(path) ? { ...change, replaces: true } : change,
  }));
  const replaces = new Set([...said.replaces, ...said.changed.filter((name) => hit(safePath(name) ?? []))]);
  const initError = hasInitErrors && hit(["#initerror"]);
  if (initError) replaces.add("#initerror");
  return {
    ...said,
    changes: initError ? "some" : said.changes,
    replaces: [...replaces],
    ...(detail === undefined ? {} : { detail }),
  };
}

export const needsReplacement = (said: Difference): boolean =>
  said.replaces.length > 0 || (said.detail?.some(({ change }) => change.replaces) ?? false);

/** The changes to show: the provider's own detail where it has any, else the difference of the inputs. */
export function changesOf(said: Difference, old: Sides, now: Sides): Change[] {
  return said.detail ? detailedChanges(said.detail, old, now) : changesOfInputs(said, old.inputs, now.inputs);
}

function changesOfInputs(said: Difference, olds: Properties, news: Properties): Change[] {
  const all = changesBetween(olds, news);
  const isReplacing = (path: Path): boolean => said.replaces.includes(String(path[0]));
  const changes = all.map((change) => (isReplacing(change.path) ? { ...change, replaces: true } : change));
  const keys = new Set(changedKeys(all));
  // A key that the provider blames although the inputs are the same, such as "id" or one it computes.
  for (const name of said.replaces) {
    if (!keys.has(name)) changes.push(blamed(name, olds, news));
  }
  return changes;
}

function blamed(name: string, olds: Properties, news: Properties): Change {
  const old = property(olds, name);
  const now = property(news, name);
  return {
    path: [name],
    kind: "update",
    replaces: true,
    ...(old === undefined ? {} : { old }),
    ...(now === undefined ? {} : { now }),
  };
}
