type Work = () => unknown;

const endings: Record<"test" | "file", Work[]> = { test: [], file: [] };

/** Registers work for after each test: of a module that many test files import, for each of them, and loaded once. */
export const afterEveryTest = (work: Work): void => void endings.test.push(work);

/** Registers work for after the last test of each file. */
export const afterEveryFile = (work: Work): void => void endings.file.push(work);

/** Runs the work that is registered; all of it, and fails with the first error. */
export async function runEndings(of: keyof typeof endings): Promise<void> {
  const failures: unknown[] = [];
  for (const work of endings[of]) {
    try {
      await work();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
