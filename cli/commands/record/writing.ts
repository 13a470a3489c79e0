import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { link, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { parse } from "yaml";
import { EngineError } from "../../../engine/index.ts";
import type { Finder } from "../../recording/privacy/finder.ts";
import type { PrivateKind } from "../../recording/privacy/kinds.ts";

/** A file that is to be written. */
export interface Draft {
  path: string;
  text: string;
}

/** A secret or a person in a draft, where neither may be. */
export interface Leak {
  kind: PrivateKind;
  path: string;
}

/** Looks for secrets and people in drafts: in each raw line, and in each parsed value. */
export function leakIn(drafts: readonly Draft[], finder: Finder): Leak | undefined {
  for (const { path, text } of drafts) {
    let kind = finder.kindIn(parse(text, { maxAliasCount: 0 }));
    for (const line of text.split("\n")) kind ??= finder.kindInLine(line);
    if (kind !== undefined) return { kind, path };
  }
  return undefined;
}

/** Throws when a file is there already. */
export function refuseExisting(paths: readonly string[]): void {
  const there = paths.find((path) => existsSync(path));
  if (there !== undefined) {
    throw new EngineError(
      `${there} is there already: name another with --out, --seed, --facts or --profile, or say --force`,
    );
  }
}

/** Writes files for their owner alone, each as a whole or not at all. */
export async function writeDrafts(drafts: readonly Draft[], force: boolean): Promise<void> {
  if (!force) refuseExisting(drafts.map(({ path }) => path));
  const waiting: { path: string; part: string }[] = [];
  try {
    for (const { path, text } of drafts) {
      await mkdir(dirname(path), { recursive: true });
      const part = `${path}.${randomBytes(6).toString("hex")}.part`;
      waiting.push({ path, part });
      const file = await open(part, "wx", 0o600);
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
    }
    for (const { path, part } of waiting) await (force ? rename(part, path) : link(part, path));
  } finally {
    for (const { part } of waiting) await rm(part, { force: true });
  }
}
