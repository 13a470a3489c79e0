import { posix } from "node:path";
import { z } from "zod";
import { pathInRepository } from "../../../provider/files/files.ts";
import { runGit } from "../../../provider/files/git.ts";
import { describePlace, toPlainValue, type Value } from "../../../provider/layers/document.ts";
import { checkedIn, DataRefusal } from "../../report/environments.ts";
import { deepen, isShallow } from "../../report/trees.ts";
import type { PromotionBase } from "./model.ts";

/** The file that keeps up to which commit an environment has what another one had, beside Pulumi.yaml. */
export const promotionsFile = "promotions.yaml";

/** An environment has everything that another one had at a commit. */
export interface PromotionEntry {
  to: string;
  from: string;
  commit: string;
  /** Where the commit stands. */
  place: string;
  /** True if it stands in a list. */
  isListed: boolean;
}

const entry = z.strictObject({
  from: z.string().min(1),
  commit: z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "must be the whole ID of a commit; correct it"),
});
const promotions = z.record(z.string(), z.union([entry, z.array(entry).min(1)]));

/** The entries of promotions.yaml: one for each environment, or a list where it gets from several. Throws a DataRefusal. */
export function parsePromotions(text: string): PromotionEntry[] {
  const plain = (root: Value): unknown => toPlainValue(withWritten(root)) ?? {};
  const { data = {}, problems, at } = checkedIn(text, promotionsFile, promotions, plain);
  const [wrong] = problems;
  if (wrong) throw new DataRefusal(`${describePlace(wrong.at)}: ${wrong.message}`);
  return Object.entries(data).flatMap(([to, entries]) =>
    [entries].flat().map(({ from, commit }, index) => {
      const isListed = Array.isArray(entries);
      return {
        to,
        from,
        commit,
        isListed,
        place: describePlace(at(isListed ? [to, index, "commit"] : [to, "commit"])),
      };
    }),
  );
}

/** Digits alone, or with an e among them, are a number to YAML. */
function withWritten(value: Value): Value {
  switch (value.kind) {
    case "scalar":
      return typeof value.value === "number" ? { ...value, value: value.written } : value;
    case "list":
      return { ...value, items: value.items.map(withWritten) };
    case "map":
      return {
        ...value,
        entries: new Map([...value.entries].map(([key, one]) => [key, { ...one, value: withWritten(one.value) }])),
      };
  }
}

/** Two environments of a project, by name and file. */
interface Pair {
  root: string;
  /** The folder of Pulumi.yaml, from the top of the repository on. */
  prefix: string;
  from: { name: string; file: string };
  to: { name: string; file: string };
}

/**
 * Finds the commit since which `from` changed what is to be promoted: the one that promotions.yaml names, or the one that
 * brought the last promotion in the other direction, whichever is later; else the one since which there are both files.
 */
export async function findBase(pair: Pair, entries: readonly PromotionEntry[]): Promise<PromotionBase> {
  const { from, to, root } = pair;
  const isOf = (entry: PromotionEntry, one: string, other: string): boolean => entry.from === one && entry.to === other;
  const forth = entries.find((entry) => isOf(entry, from.name, to.name));
  const back = entries.find((entry) => isOf(entry, to.name, from.name));
  if (forth) await assertThere(root, forth);
  const returned = back && (await commitWith(pair, back));
  if (forth && returned !== undefined) {
    const isLater = await isAncestor(root, forth.commit, returned);
    return isLater ? { commit: returned, by: "return" } : { commit: forth.commit, by: "entry" };
  }
  if (returned !== undefined) return { commit: returned, by: "return" };
  if (forth) return { commit: forth.commit, by: "entry" };
  return { commit: await forkOfFiles(pair), by: "fork" };
}

async function assertThere(root: string, { commit, place, from }: PromotionEntry): Promise<void> {
  try {
    await runGit(root, "cat-file", "-e", `${commit}^{commit}`);
  } catch {
    const short = commit.slice(0, 12);
    if (await isShallow(root)) throw new DataRefusal(`${place}: the commit ${short} is not here, since ${deepen}`);
    throw new DataRefusal(
      `${place}: there is no commit ${short}, perhaps because the history was rewritten: name a commit at which ${from} was promoted last, or remove the entry to begin where both files came to be`,
    );
  }
}

/** The commit that brought an entry of the other direction into promotions.yaml. */
async function commitWith({ root, prefix }: Pair, { commit, place }: PromotionEntry): Promise<string> {
  const path = posix.join(prefix, promotionsFile);
  const words = ["log", "--no-show-signature", "--first-parent", "-m", "--format=%H", "-1", `-S${commit}`];
  const found = (await runGit(root, ...words, "HEAD", "--", path)).trim();
  if (found === "") {
    if (await isShallow(root)) throw new DataRefusal(`${place}: ${deepen}`);
    throw new DataRefusal(
      `${place}: this entry is in no commit yet: commit what the last promotion wrote, then promote`,
    );
  }
  if (await isShallow(root)) await assertWholeDiff(root, found);
  return found;
}

/** The first commit of a shallow clone seems to bring everything. */
async function assertWholeDiff(root: string, commit: string): Promise<void> {
  const parents = (await runGit(root, "rev-list", "--parents", "-1", commit)).trim().split(" ");
  if (parents.length === 1) throw new DataRefusal(deepen);
}

/** The latest commit that added one of the two files: since then they stand beside each other. */
async function forkOfFiles({ root, prefix, from, to }: Pair): Promise<string> {
  if (await isShallow(root)) throw new DataRefusal(`${from.name} was not promoted to ${to.name} yet, and ${deepen}`);
  const paths = [from, to].map(({ file }) => pathInRepository(prefix, file));
  const words = [
    "log",
    "--no-show-signature",
    "--first-parent",
    "-m",
    "--no-renames",
    "--diff-filter=A",
    "--format=%H",
  ];
  for (const [index, path] of paths.entries()) {
    const added = await runGit(root, ...words, "-1", "HEAD", "--", path);
    const { name, file } = index === 0 ? from : to;
    if (added.trim() === "") throw new DataRefusal(`${file} of ${name} is in no commit yet: commit it, then promote`);
  }
  return (await runGit(root, ...words, "-1", "HEAD", "--", ...paths)).trim();
}

async function isAncestor(root: string, one: string, other: string): Promise<boolean> {
  try {
    await runGit(root, "merge-base", "--is-ancestor", one, other);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === 1) return false;
    throw error;
  }
}
