import type { Case, Course } from "./cases.ts";
import { Lab } from "./lab.ts";

type Found = Awaited<ReturnType<Lab["try"]>>;

/** Some labs side by side: most of a case's time is waiting before a call is repeated. */
export class Workshop {
  readonly #labs: readonly Record<Case["door"], Lab>[];
  readonly courses: ReadonlyMap<string, Course>;

  private constructor(labs: readonly Record<Case["door"], Lab>[]) {
    this.#labs = labs;
    this.courses = new Map(labs.slice(0, 1).flatMap(({ dynamic, plugin }) => [...dynamic.courses, ...plugin.courses]));
  }

  static async open(places: number): Promise<Workshop> {
    const opening = Array.from({ length: places }, async () => {
      const [dynamic, plugin] = await Promise.all([Lab.open("dynamic"), Lab.open("plugin")]);
      return { dynamic, plugin };
    });
    return new Workshop(await Promise.all(opening));
  }

  /** Tries each case, and tells as soon as it knows how it went. */
  async tryAll(cases: readonly Case[], tell: (one: Case, found: Found) => void): Promise<void> {
    const waiting = cases.values();
    const work = async (labs: Record<Case["door"], Lab>): Promise<void> => {
      for (const one of waiting) tell(one, await labs[one.door].try(one));
    };
    await Promise.all(this.#labs.map(work));
  }

  async close(): Promise<void> {
    await Promise.all(this.#labs.flatMap(({ dynamic, plugin }) => [dynamic.close(), plugin.close()]));
  }
}

/** The seed that the environment names, for repeating what went wrong; any other one without it. */
export function seedFrom(environment: Readonly<Record<string, string | undefined>>): number {
  const named = Number(environment["FAULTS_SEED"] ?? Number.NaN);
  return Number.isInteger(named) ? named : Math.floor(Math.random() * 1_000_000);
}
