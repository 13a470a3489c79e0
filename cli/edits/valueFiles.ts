import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../provider/contract/wire.ts";
import { quote } from "../../provider/messages/text.ts";
import { keyText } from "../../provider/reconcile/digests.ts";
import { parseJsonTree } from "./jsonTree.ts";
import type { EditStep, ValueFileEdit } from "./kinds.ts";
import { runSteps, type Round } from "./rounds.ts";
import { EditRefusal } from "./splices.ts";
import { decode, encode } from "./texts.ts";
import type { TextMember, TextNode, TextTree } from "./textTree.ts";
import type { Spot } from "./treeEdits.ts";
import { parseYamlTree } from "./yamlTree.ts";

export type RefuseEdit<Edit> = (edit: Edit, refusal: EditRefusal, text?: string) => void;

/** Makes edits of values in the bytes of a file. Throws an EditRefusal where the file is not edited at all. */
export function editValues(
  bytes: Buffer,
  edits: readonly ValueFileEdit[],
  refuse: RefuseEdit<ValueFileEdit>,
  isJson: boolean,
): Buffer {
  const parse = isJson ? parseJsonTree : parseYamlTree;
  const { text, mark } = decode(bytes);
  const before = parse(text).root.plain();
  const refused = new Set<ValueFileEdit>();
  const steps = edits.map((edit) => ({
    run: (round: Round) => planValue(round, edit),
    refuse: (refusal: EditRefusal, now: string) => {
      refused.add(edit);
      refuse(edit, refusal, now);
    },
  }));
  const after = runSteps(text, parse, steps);
  const meant = edits.filter((edit) => !refused.has(edit)).reduce(model, before);
  if (!isDeepStrictEqual(valueOf(after, parse), meant ?? null))
    throw new EditRefusal("would mean something else than is asked for, once it is written: edit it by hand");
  return encode(after, mark);
}

/** The value of an edited text; undefined where it has none any more. */
function valueOf(text: string, parse: (text: string) => TextTree): unknown {
  try {
    return parse(text).root.plain() ?? null;
  } catch {
    return undefined;
  }
}

interface Way extends Spot {
  /** The member at the last step; undefined where there is none. */
  member: TextMember | undefined;
  /** Steps that lead on from the parent: more than one where maps are missing. */
  rest: readonly EditStep[];
}

/** Goes as far as the tree has the path. */
function walk({ root }: TextTree, path: readonly EditStep[]): Way {
  let parent: TextNode = root;
  let holder: Spot["holder"];
  for (const [index, step] of path.entries()) {
    if (parent.locked !== undefined) throw new EditRefusal(parent.locked, parent.start);
    const member = memberAt(parent, step);
    if (!member || index === path.length - 1) return { parent, holder, member, rest: path.slice(index) };
    holder = { parent, member };
    parent = member.node;
  }
  throw new EditRefusal("has no place of its own");
}

function memberAt(parent: TextNode, step: EditStep): TextMember | undefined {
  const { members, kind, start } = parent;
  const isNothing = kind === "scalar" && parent.plain() === null;
  if (typeof step === "string") {
    if (kind !== "map" && !isNothing) throw new EditRefusal(`is no map, so it has no ${quote(step)}`, start);
    return members.find(({ name }) => name === step);
  }
  if (kind !== "list" && !isNothing) throw new EditRefusal("is no list", start);
  const meant = members.filter(({ node }) => isItem(node.plain(), step));
  if (meant.length > 1) throw new EditRefusal("stands there twice: remove one", meant[1]?.start);
  return meant[0];
}

function isItem(item: unknown, step: Exclude<EditStep, string>): boolean {
  if ("is" in step) return isDeepStrictEqual(item, step.is);
  return (
    isObject(item) && Object.entries(step.where).every(([label, value]) => keyText(item[label]) === keyText(value))
  );
}

function planValue(round: Round, edit: ValueFileEdit): void {
  const { tree } = round;
  if (edit.do === "remove") {
    let way = walk(tree, edit.path);
    if (!way.member || way.rest.length > 1) throw new EditRefusal("has not what is to be removed", way.parent.start);
    for (
      let up = edit.path.slice(0, -1);
      edit.prune && up.length > 0 && way.parent.members.length === 1;
      up = up.slice(0, -1)
    )
      way = walk(tree, up);
    if (way.member) round.drop(way, way.member);
    return;
  }
  if (edit.do === "append") {
    const way = walk(tree, edit.path);
    const { member } = way;
    if (!member) put(round, way, [edit.value]);
    else if (member.node.kind === "list")
      round.add({ parent: member.node, holder: { parent: way.parent, member } }, undefined, edit.value);
    else if (member.node.plain() === null) round.set(way.parent, member, [edit.value]);
    else throw new EditRefusal("is no list", member.node.start);
    return;
  }
  put(round, walk(tree, edit.path), edit.value);
}

/** Sets a value, and makes the maps that are missing above it. */
function put(round: Round, { parent, holder, member, rest }: Way, value: unknown): void {
  if (member) {
    round.set(parent, member, value);
    return;
  }
  const names = rest.map((step) => {
    if (typeof step !== "string") throw new EditRefusal("has no such item", parent.start);
    return step;
  });
  const [name = "", ...more] = names;
  const held = more.reduceRight<unknown>((inner, each) => ({ [each]: inner }), value);
  if (parent.kind === "scalar" && holder) round.set(holder.parent, holder.member, { [name]: held });
  else round.add({ parent, holder }, name, held);
}

/** The value of a whole file after an edit, without its text: what the text is held against. */
function model(root: unknown, edit: ValueFileEdit): unknown {
  const { path, value } = edit;
  if (edit.do === "remove") return modelRemoval(root, path, edit.prune === true).value;
  if (path.length === 0) return edit.do === "append" ? [...((root as unknown[] | null) ?? []), value] : value;
  const [step = "", ...rest] = path;
  const below = { ...edit, path: rest };
  if (typeof step === "string") {
    const map = (root ?? {}) as Record<string, unknown>;
    return { ...map, [step]: model(Object.hasOwn(map, step) ? map[step] : null, below) };
  }
  return (root as unknown[]).map((item) => (isItem(item, step) ? model(item, below) : item));
}

function modelRemoval(
  root: unknown,
  [step, ...rest]: readonly EditStep[],
  prune: boolean,
): { value: unknown; isGone: boolean } {
  if (step === undefined) return { value: undefined, isGone: true };
  const entries: [key: string | number, item: unknown][] = Array.isArray(root)
    ? (root as unknown[]).map((item, index) => [index, item])
    : Object.entries(root as object);
  const left = entries.flatMap(([key, item]): typeof entries => {
    if (typeof step === "string" ? key !== step : !isItem(item, step)) return [[key, item]];
    const { value, isGone } = modelRemoval(item, rest, prune);
    return isGone ? [] : [[key, value]];
  });
  const value = Array.isArray(root) ? left.map(([, item]) => item) : Object.fromEntries(left);
  return { value, isGone: prune && left.length === 0 };
}
