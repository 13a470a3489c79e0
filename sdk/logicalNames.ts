import type * as pulumi from "@pulumi/pulumi";

/**
 * What a resource is called in the stack, and what it was called before under which names its parents and itself had.
 * An alias differs from the URN in its name alone, since a URN has the types of the parents and not their names.
 */
export interface LogicalName {
  now: string;
  /** Former names that are to be given as aliases. */
  own: readonly string[];
  /** Former names that the SDK derives from the aliases of the parent. */
  inherited: readonly string[];
}

/** The name of the component that all others are below. */
export const rootName = (name: string, options: pulumi.ComponentResourceOptions | undefined): LogicalName => ({
  now: name,
  own: (options?.aliases ?? []).flatMap(nameIn),
  inherited: [],
});

/** The name in an alias, as far as it is known before the program has run. */
function nameIn(alias: pulumi.Input<pulumi.URN | pulumi.Alias>): string[] {
  if (typeof alias === "string") return [alias.slice(alias.lastIndexOf("::") + 2)];
  return "name" in alias && typeof alias.name === "string" ? [alias.name] : [];
}

/**
 * The name of something below a parent. The SDK hands an alias of the parent on to its children and no further, so of
 * what a parent has inherited itself the aliases are given here; and of nothing else, because the SDK would put former
 * names of a parent into them a second time.
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

/** The option by which the engine finds a resource under its former names. */
export const aliasesOf = ({ own }: LogicalName): { aliases?: pulumi.Alias[] } =>
  own.length === 0 ? {} : { aliases: own.map((name) => ({ name })) };
