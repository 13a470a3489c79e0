import type { StepInfo } from "../../engine/index.ts";
import {
  countRowsLeft,
  describeRenaming,
  findRenamings,
  type RenamedSide,
  type RowsLeft,
} from "../../provider/environment/leaving.ts";
import { describeNamed, readName, toShownNames } from "../../provider/pulumi/names.ts";

/** A step of an engine's preview. */
type PreviewStep = Pick<StepInfo, "op" | "urn" | "properties" | "departure">;

/** A hint at the resource that comes. */
interface Hint {
  urn: string;
  message: string;
}

interface OfStep extends RenamedSide {
  step: string;
  /** Path in the file; undefined for a resource of a program. */
  path: readonly string[] | undefined;
  departure: PreviewStep["departure"];
}

/** Finds things of a preview that may only have another key, with the line that keeps each one what it is. */
export class RenamingWatch {
  readonly #left: OfStep[] = [];
  readonly #came: OfStep[] = [];
  readonly #environments = new Set<string>();

  /** Takes a step; parents come before what is below them, and deletions last. */
  take({ op, urn, properties = {}, departure }: PreviewStep): void {
    const { kind, name } = readName(urn);
    if (kind === "Environment") this.#environments.add(name);
    if (op !== "create" && op !== "delete") return;
    const root = [...this.#environments].find((each) => name.startsWith(`${each}/`));
    const below = root === undefined ? name : name.slice(root.length + 1);
    const path = root === undefined ? undefined : pathOf(kind, below);
    (op === "create" ? this.#came : this.#left).push({
      kind,
      step: urn,
      urn: path ? undefined : urn,
      name: below,
      values: toShownNames(properties),
      ...{ path, departure },
    });
  }

  /** The hints, once all steps are known. */
  hints(): Hint[] {
    return findRenamings(this.#left, this.#came, rowsLeft).map((renaming) => ({
      urn: renaming.came.step,
      message: describeRenaming(renaming, renaming.came.path?.join(".")),
    }));
  }
}

/** Rows of a seed that leaves, as its provider has counted them, or by the keys that both name. */
function rowsLeft(left: OfStep, came: OfStep): RowsLeft | undefined {
  if (!left.departure) return countRowsLeft(left, came);
  const { kept, gone } = left.departure;
  return { stay: kept[describeNamed(readName(came.step))] ?? 0, go: gone };
}

/** The place of a thing in an Environment file. */
function pathOf(kind: string, name: string): string[] {
  const [first = "", ...rest] = name.split("/");
  switch (kind) {
    case "SeedRows":
      return ["seeds", name];
    case "GeneratedApp":
      return ["apps", name];
    case "Notification":
      return ["notifications", name];
    case "RowFile":
      return ["seeds", first, "files", ...rest];
    default: {
      const [team, ...within] = rest;
      const people = kind === "TeamMember" ? ["members", ...within] : within; // or "roster"
      return ["organizations", first, ...(team === undefined ? [] : ["teams", team, ...people])];
    }
  }
}
