import { readEnvironment, type Reading } from "./declaration.ts";
import { rowProblems } from "./rowChecks.ts";

/** An Environment file with everything that is wrong about it, as far as that can be known without a platform. */
export async function checkEnvironment(file: string, folder: string): Promise<Reading> {
  const reading = readEnvironment(file, folder);
  const { root, declared, problems } = reading;
  // Of what is not sound the rows would say the same once more.
  if (!root || !declared || problems.length > 0) return reading;
  return { ...reading, problems: await rowProblems(root, declared, folder) };
}
