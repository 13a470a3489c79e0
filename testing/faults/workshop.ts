import type { Case, Course } from "./cases.ts";
import { Lab } from "./lab.ts";

type Found = Awaited<ReturnType<Lab["try"]>> & { seconds: number };

/** Labs for each kind of provider, side by side: most of a case's time is waiting before a call is repeated. */
export class Workshop {
  readonly #labs: readonly Lab[];
  readonly courses: ReadonlyMap<string, Course>;

  private constructor(labs: readonly Lab[]) {
    this.#labs = labs;
    this.courses = new Map(labs.flatMap(({ courses }) => [...courses]));
  }

  /** @param places labs for each kind of provider */
  static async open(places: number): Promise<Workshop> {
    const opening = Array.from({ length: places }, () => [Lab.open("dynamic"), Lab.open("plugin")]);
    return new Workshop(await Promise.all(opening.flat()));
  }

  /** Tries each case, and reports its result at once. */
  async tryAll(cases: readonly Case[], tell: (one: Case, found: Found) => void): Promise<void> {
    const waiting = Map.groupBy(cases, ({ providerKind }) => providerKind);
    const work = async (lab: Lab): Promise<void> => {
      const own = waiting.get(lab.providerKind) ?? [];
      for (let one = own.shift(); one; one = own.shift()) {
        const start = performance.now();
        const found = await lab.try(one);
        tell(one, { ...found, seconds: (performance.now() - start) / 1000 });
      }
    };
    await Promise.all(this.#labs.map(work));
  }

  async close(): Promise<void> {
    await Promise.all(this.#labs.map((lab) => lab.close()));
  }
}
