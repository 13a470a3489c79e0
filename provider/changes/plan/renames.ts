import { stable } from "../model/values.ts";
import type { Plan, Step } from "./planner.ts";
import type { Declared } from "../model/source.ts";

/** The declarations that a plan is about; a state has no base. */
export interface Sides {
  base: Declared | undefined;
  head: Declared;
}

/** Part of the keys from which on two seeds are taken for one. */
const mostKeys = 0.8;

/** Things that leave beside one that came and may be the same: what to say so that it stays what it is. */
export function renamesIn({ steps }: Plan, { head }: Sides): ReadonlyMap<Step, string[]> {
  const notes = new Map<Step, string[]>();
  const come = steps.filter(({ operation }) => operation === "create");
  for (const left of steps.filter(({ operation }) => operation === "delete")) {
    const [came, ...others] = come.filter((each) => isAlike(left, each));
    if (!came?.thing || !left.known || others.length > 0) continue;
    const former = left.known.name.split("/").at(-1) ?? "";
    const [kind, ...path] = came.thing.path;
    const at = head.place(came.thing.path);
    const line = `formerly: ${former}`;
    const where = `${kind ?? ""}.${path.join(".")}${at === "" ? "" : ` (${at})`}`;
    notes.set(left, [`perhaps renamed to ${path.at(-1) ?? ""}: say "${line}" under ${where}`]);
    notes.set(came, [`perhaps ${former} renamed: say "${line}" here, under ${where}`]);
  }
  return notes;
}

/** True if one thing may be the other under another key. */
function isAlike({ known, rows }: Step, { thing, inputs }: Step): boolean {
  if (!known || !thing || known.kind !== thing.kind) return false;
  const is = (name: string): boolean => stable(known.outputs[name]) === stable(inputs[name]);
  switch (thing.kind) {
    case "SeedRows": {
      if (!is("table") || !is("key")) return false;
      if (is("source") && inputs["source"] !== undefined) return true;
      const name = thing.name.now.slice(1);
      return (rows?.spared.get(name) ?? 0) >= mostKeys * Math.max(1, Number(known.outputs["rowCount"] ?? 0));
    }
    case "Organization":
      return is("name");
    case "Team":
      return is("name") && is("organizationID");
    case "GeneratedApp":
      return stable({ ...known.thing?.inputs }) === stable({ ...thing.inputs });
    default:
      return false;
  }
}
