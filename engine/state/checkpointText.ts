import { encodeDeployment, encodeResource, type Deployment, formatOf, type SecretSeal } from "./checkpoint.ts";
import type { Crypter } from "./crypter.ts";
import type { ResourceState } from "./resourceState.ts";

/** The text of a resource, and its fields at that time. */
interface Rendered {
  fields: ResourceState;
  text: Buffer;
}

/** How many resources are joined into one piece. */
const joined = 128;

/**
 * Writes the texts of a stack's checkpoint, in pieces. A run writes one after nearly every step: what has not changed since
 * is neither rendered nor copied again. Fields of a resource get other values, which never change in place.
 */
export class CheckpointText {
  readonly #stack: string;
  readonly #salt: string;
  readonly #seal: SecretSeal;
  readonly #rendered = new WeakMap<ResourceState, Rendered>();
  /** The pieces of the last text, with the texts that each one joins. */
  #pieces: { of: readonly Buffer[]; piece: Buffer }[] = [];

  constructor(project: string, stack: string, crypter: Crypter) {
    this.#stack = `organization/${project}/${stack}`;
    this.#salt = crypter.salt;
    this.#seal = (place, text) => ({ ciphertext: crypter.encryptAt(place, text) });
  }

  render(deployment: Deployment, time: Date): Buffer[] {
    const { resources, operations, metadata } = deployment;
    const latest = encodeDeployment({ resources: [], operations: [], metadata }, this.#seal, this.#salt, time);
    const text = JSON.stringify({ ...formatOf(deployment), checkpoint: { stack: this.#stack, latest } }, null, 4);
    // The only key of that name so deep, since no text in JSON has a line break.
    const end = text.lastIndexOf(`${line(3)}"metadata": `);
    const pending = operations.map(({ type, resource }) =>
      element({ resource: encodeResource(resource, this.#seal), type }),
    );
    return [
      Buffer.from(text.slice(0, end)),
      ...list("resources", this.#joined(resources)),
      ...list("pending_operations", pending),
      Buffer.from(`${text.slice(end)}\n`),
    ];
  }

  #joined(resources: readonly ResourceState[]): Buffer[] {
    const pieces = Array.from({ length: Math.ceil(resources.length / joined) }, (_, at) => {
      const of = resources.slice(at * joined, (at + 1) * joined).map((state) => this.#textOf(state));
      const last = this.#pieces[at];
      const isSame = last?.of.length === of.length && of.every((text, index) => text === last.of[index]);
      return isSame ? last : { of, piece: Buffer.concat(of) };
    });
    this.#pieces = pieces;
    return pieces.map(({ piece }) => piece);
  }

  #textOf(state: ResourceState): Buffer {
    const known = this.#rendered.get(state);
    if (known && isSame(known.fields, state)) return known.text;
    const text = element(encodeResource(state, this.#seal));
    this.#rendered.set(state, { fields: { ...state }, text });
    return text;
  }
}

const line = (depth: number): string => `\n${" ".repeat(4 * depth)}`;

/** Writes an element of a list of the checkpoint, with the comma after it. */
const element = (value: unknown): Buffer =>
  Buffer.from(`${line(4)}${JSON.stringify(value, null, 4).replaceAll("\n", line(4))},`);

/** Writes a list of the checkpoint; an empty one is left out. */
function list(name: string, elements: readonly Buffer[]): Buffer[] {
  const last = elements.at(-1);
  if (last === undefined) return [];
  const [begin, end] = [`${line(3)}"${name}": [`, `${line(3)}],`];
  return [Buffer.from(begin), ...elements.slice(0, -1), last.subarray(0, -1), Buffer.from(end)];
}

function isSame(before: ResourceState, now: ResourceState): boolean {
  for (const name in before) {
    const field = name as keyof ResourceState; // its own keys
    if (before[field] !== now[field]) return false;
  }
  return true;
}
