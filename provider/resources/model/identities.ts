import { createHash, randomBytes } from "node:crypto";
import { quote } from "../../../platform/messages/text.ts";

/** A resource as people know it: `TeamMember "ada"`. */
export interface NamedResource {
  kind: string;
  name: string;
  /** How an Environment file has it: `member "acme/crew/ada@example.com"`. */
  inFile?: string;
}

/** The kind and name in a URN. */
export function readName(urn: string): NamedResource {
  const [, , chain = "", ...names] = urn.split("::");
  const types = chain.split("$");
  const [kind, name] = [types.at(-1)?.split(":").at(-1) ?? "", names.join("::")];
  const word = types.slice(0, -1).includes(environmentType) ? words[kind] : undefined;
  return word === undefined ? { kind, name } : { kind, name, inFile: `${word} ${quote(nameInFile(kind, name))}` };
}

/** The component that an Environment file is. */
export const environmentType = "microapps:index:Environment";

/** Words of an Environment file for the kinds of its things. */
const words: Readonly<Record<string, string>> = {
  ...{ Organization: "organization", Team: "team", TeamMember: "member", TeamRoster: "roster" },
  ...{ GeneratedApp: "app", AppReadiness: "app", SeedRows: "seed", RowFile: "file", Notification: "notification" },
};

/** A name without that of the Environment, and without what the file does not have. */
const nameInFile = (kind: string, name: string): string => {
  const below = name.slice(name.indexOf("/") + 1);
  if (kind === "TeamRoster") return below.replace(/\/roster$/, "");
  return kind === "AppReadiness" ? below.replace(/-ready$/, "") : below;
};

export const describeNamed = ({ kind, name, inFile }: NamedResource): string => inFile ?? `${kind} ${quote(name)}`;

/** The URN that a thing of an Environment has where no engine gives it one. */
export const toPlannedUrn = (kind: string, name: string): string =>
  `urn:pulumi:plan::plan::${environmentType}$microapps:index:${kind}::environment/${name}`;

/** Why two resources that have one ID are refused. */
export const oneThing = (one: NamedResource, other: NamedResource, id: string): string =>
  `${describeNamed(one)} and ${describeNamed(other)} are one thing on the platform: both have the ID ${id}. ` +
  `Remove one of them from the program; what is on the platform stays. If one was renamed, keep that one, with aliases.`;

type Inputs = Readonly<Record<string, unknown>>;

/** The resource that a replacement replaces, as far as this run knows it: without its ID when there was no diff. */
export interface Replaced {
  id: string | undefined;
  inputs: Inputs;
}

/** This run's knowledge of one URN. */
interface Known {
  /** True when the program declares it. */
  checked: boolean;
  /** The inputs of the last run. */
  old: Inputs | undefined;
  /** The thing in the state, from a comparison, or from reading a state that has it once. */
  before: { id: string; inputs: Inputs | undefined } | undefined;
  /** All that states have under it. */
  seen: Set<string>;
  /** The ID that the resource keeps, or has got. */
  current: string | undefined;
  /** True while the engine replaces a thing and has not made the new one. */
  replacing: boolean;
}

/**
 * Which resource of a run has which ID on the platform. An engine knows a resource by its URN, the platform a thing by
 * its ID: a deletion may meet what another resource has by now. One process works for one run.
 */
export class Identities {
  readonly #known = new Map<string, Known>();
  /** URNs by the IDs that they have, or had. */
  readonly #urns = new Map<string, Set<string>>();

  /**
   * Notes a check: the program declares the resource. The first check brings the inputs of the last run. A check without
   * any, of a resource in the state, means that the engine replaces it, whatever the diff was.
   */
  checked(urn: string, old: Inputs): void {
    const known = this.#of(urn);
    known.checked = true;
    if (Object.keys(old).length > 0) Object.assign(known, { old, replacing: false });
    else if (known.old !== undefined || known.before?.inputs !== undefined) {
      Object.assign(known, { replacing: true, current: undefined });
    }
  }

  /** True when the program is known to declare it. */
  isDeclared(urn: string): boolean {
    return this.#known.get(urn)?.checked ?? false;
  }

  /** A state was read; `inputs` when it is of a thing that is ours. */
  seen(urn: string, id: string, inputs: Inputs | undefined): void {
    const known = this.#with(urn, id);
    known.seen.add(id);
    // A state may still name the URN from before a renaming, which is another resource's by now.
    known.before = known.seen.size > 1 ? undefined : { id, inputs };
  }

  /** Notes a diff, which shows whether the resource keeps its ID. Engines also diff what they may have to delete first. */
  compared(urn: string, id: string, keeps: boolean): void {
    const known = this.#with(urn, id);
    known.seen.add(id);
    known.before = { id, inputs: known.before?.inputs };
    if (known.checked) known.current = keeps ? id : undefined;
  }

  /** A create or an update is done. */
  has(urn: string, id: string): void {
    Object.assign(this.#with(urn, id), { current: id, replacing: false });
  }

  /** A deletion is done, or was not necessary. */
  released(urn: string, id: string): void {
    const known = this.#of(urn);
    if (known.current === id && !known.checked) known.current = undefined;
    if (known.before?.id === id) known.before = undefined;
    known.seen.delete(id);
  }

  /** Another resource that the program declares and that has this ID. */
  other(urn: string, id: string): NamedResource | undefined {
    for (const another of this.#urns.get(id) ?? []) {
      if (another === urn) continue;
      const { checked, current } = this.#of(another);
      if (checked && current === id && readName(another).kind === readName(urn).kind) return readName(another);
    }
    return undefined;
  }

  /** URNs of the resources that the program declares and that have this ID. */
  holders(id: string): string[] {
    return [...(this.#urns.get(id) ?? [])].filter((urn) => this.#of(urn).checked && this.#of(urn).current === id);
  }

  /** The owner of a thing whose deletion is due: another resource, or its successor under the same URN. */
  findOwner(urn: string, id: string): (NamedResource & { itself: boolean }) | undefined {
    const other = this.other(urn, id);
    if (other) return { ...other, itself: false };
    const known = this.#known.get(urn);
    return known?.checked && known.current === id ? { ...readName(urn), itself: true } : undefined;
  }

  /** The resource that is being replaced under this URN; undefined when none is, or none that this run knows. */
  replaced(urn: string | undefined): Replaced | undefined {
    const known = this.#known.get(urn ?? "");
    if (!known?.replacing) return undefined;
    return { id: known.before?.id, inputs: known.old ?? known.before?.inputs ?? {} };
  }

  /** How many replacements under one URN there were, the one that is under way included; undefined for none. */
  generation(urn: string | undefined): number | undefined {
    const known = this.#known.get(urn ?? "");
    const last = (known?.old ?? known?.before?.inputs)?.["generation"];
    const count = typeof last === "number" ? last : 0;
    if (known?.replacing) return count + 1;
    return known?.old === undefined || count === 0 ? undefined : count;
  }

  /** The ID to create a thing with: the derived one, or the next one while that is a resource's of this run. */
  chosen(urn: string | undefined, ...parts: readonly string[]): string | undefined {
    for (let apart = 0; ; apart++) {
      const id = chosenID(urn, ...parts, ...(apart > 0 ? [`apart ${apart}`] : []));
      if (id === undefined || urn === undefined || !this.#isTaken(urn, id)) return id;
    }
  }

  /** Also by one that the state has and the program has not declared yet. */
  #isTaken(urn: string, id: string): boolean {
    const { kind } = readName(urn);
    return [...(this.#urns.get(id) ?? [])].some((one) => {
      const { current, seen } = this.#of(one);
      const has = seen.has(id) || (current === id && one !== urn);
      return has && readName(one).kind === kind;
    });
  }

  /** Finds the record of a URN, and links the ID to it. */
  #with(urn: string, id: string): Known {
    setAt(this.#urns, id).add(urn);
    return this.#of(urn);
  }

  #of(urn: string): Known {
    const known = this.#known.get(urn) ?? {
      ...{ checked: false, old: undefined, before: undefined, seen: new Set(), current: undefined, replacing: false },
    };
    this.#known.set(urn, known);
    return known;
  }
}

const letters = "23456789ABCDEFGHJKLMNPQRSTWXYZabcdefghijkmnopqrstuvwxyz";

/**
 * The ID under which a resource creates its thing: derived from its URN and the inputs that force replacement, so that
 * a later run that remembers nothing still finds what an interrupted one made. Without a URN (an import by hand) the
 * platform chooses.
 */
export function chosenID(urn: string | undefined, ...parts: string[]): string | undefined {
  if (urn === undefined) return undefined;
  const digest = createHash("sha256")
    .update(JSON.stringify([urn, ...parts]))
    .digest();
  return lettersOf(digest);
}

/** A random ID. */
export const randomID = (): string => lettersOf(randomBytes(24));

/** 24 letters of 55: 138 bits. */
const lettersOf = (bytes: Buffer): string =>
  Array.from(bytes.subarray(0, 24), (byte) => letters[byte % letters.length] ?? "").join("");

/** The set of a key; an empty one is made where there is none. */
export function setAt(sets: Map<string, Set<string>>, key: string): Set<string> {
  const known = sets.get(key) ?? new Set();
  sets.set(key, known);
  return known;
}
