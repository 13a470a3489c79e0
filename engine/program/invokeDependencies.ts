import type { ResourceState } from "../state/resourceState.ts";

/**
 * True if a function has to wait for something that is still to be created: one of these resources, or one that a
 * component among them consists of.
 */
export function hasUncreated(news: ReadonlyMap<string, ResourceState>, urns: readonly string[]): boolean {
  if (urns.length === 0) return false;
  let children: Map<string, ResourceState[]> | undefined;
  const seen = new Set<string>();
  const waiting = [...urns];
  for (let urn = waiting.pop(); urn !== undefined; urn = waiting.pop()) {
    const state = news.get(urn);
    if (!state || seen.has(urn)) continue;
    seen.add(urn);
    if (state.custom && !state.id) return true;
    if (state.custom) continue;
    children ??= Map.groupBy(news.values(), ({ parent }) => parent);
    waiting.push(...(children.get(urn) ?? []).map((child) => child.urn));
  }
  return false;
}
