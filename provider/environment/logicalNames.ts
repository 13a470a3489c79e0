/**
 * Name of a resource in the stack, and the names that it had before, from its own former keys and its parents'.
 * An alias differs from the URN in its name alone, since a URN has the types of the parents and not their names.
 */
export interface LogicalName {
  now: string;
  /** Former names that the resource needs aliases for. */
  own: readonly string[];
  /** Former names that need none: the SDK derives them from the aliases of the parent. */
  inherited: readonly string[];
}

/** The name of the component that all others are below. */
export const topName = (now: string, own: readonly string[] = []): LogicalName => ({ now, own, inherited: [] });

/**
 * The name of a resource below a parent. The SDK derives aliases from the parent's own, but not from those that the
 * parent has inherited: these become aliases here. Others must not, because the SDK would derive from them once more.
 */
export function nameBelow(parent: LogicalName, key: string, former: readonly string[] = []): LogicalName {
  const keys = [key, ...former];
  const below = (names: readonly string[]): string[] => names.flatMap((name) => keys.map((each) => `${name}/${each}`));
  return {
    now: `${parent.now}/${key}`,
    own: [...former.map((each) => `${parent.now}/${each}`), ...below(parent.inherited)],
    inherited: below(parent.own),
  };
}
