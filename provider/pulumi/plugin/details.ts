import { isDeepStrictEqual } from "node:util";
import { plain, type Properties } from "../properties.ts";

/** How one property changes. */
export type Kind = "add" | "delete" | "update";

type Details = [path: string, kind: Kind][];

/**
 * The changes below some properties, by property path as Pulumi writes it: `references.Continent.table`, `key[0]`. A
 * secret changes as a whole, since paths into it would tell what it is made of.
 */
export function details(
  olds: Properties,
  news: Properties,
  names: readonly string[],
  secrets: ReadonlySet<string>,
): Details {
  return names.flatMap((name): Details => {
    const found = below(at("", name), plain(olds[name]), plain(news[name]), secrets.has(name));
    // A resource may see a change where the values show none.
    return found.length > 0 ? found : [[at("", name), "update"]];
  });
}

function below(path: string, old: unknown, now: unknown, whole = false): Details {
  if (isDeepStrictEqual(old, now)) return [];
  if (!whole && Array.isArray(old) && Array.isArray(now)) {
    return Array.from({ length: Math.max(old.length, now.length) }).flatMap((_, i) =>
      below(`${path}[${i}]`, old[i] ?? null, now[i] ?? null),
    );
  }
  if (!whole && isObject(old) && isObject(now)) {
    return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((name) =>
      below(at(path, name), old[name] ?? null, now[name] ?? null),
    );
  }
  return [[path, old === null ? "add" : now === null ? "delete" : "update"]];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function at(path: string, name: string): string {
  if (!/^[A-Za-z_]\w*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}
