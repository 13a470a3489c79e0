import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../../../machine/failures.ts";
import { MaskError } from "./maskError.ts";

/** The variable with the secret that masks are made with. */
export const secretVariable = "MICROAPPS_MASK_SECRET";

/** The variable with the path of a file that has it. */
export const secretFileVariable = "MICROAPPS_MASK_SECRET_FILE";

/** Characters that a secret has at least, and how many different ones. */
const [shortest, fewest] = [32, 8];

const remedy = `make one with "openssl rand -hex 32", and keep it: another secret makes other masks`;

/** The secret of masks. Throws a MaskError where there is none, where it is weak, or where Git could have its file. */
export function readMaskSecret(environment: Readonly<Record<string, string | undefined>>): string {
  const own = environment[secretVariable] ?? "";
  const file = environment[secretFileVariable] ?? "";
  if (own !== "" && file !== "")
    throw new MaskError(`${secretVariable} and ${secretFileVariable} are both set: leave one of them out`);
  if (own === "" && file === "")
    throw new MaskError(
      `there is no secret to mask with: set ${secretVariable}, or ${secretFileVariable} to a file outside of Git; ${remedy}`,
    );
  const [secret, name] = file === "" ? [own, secretVariable] : [secretIn(file), `the file of ${secretFileVariable}`];
  if (secret.length < shortest) throw new MaskError(`${name} has less than ${shortest} characters: ${remedy}`);
  if (new Set(secret).size < fewest)
    throw new MaskError(`${name} has less than ${fewest} different characters, which can be guessed: ${remedy}`);
  return secret;
}

function secretIn(file: string): string {
  const refuse = (reason: string): never => {
    throw new MaskError(`the file of ${secretFileVariable} ${reason}`);
  };
  try {
    const path = realpathSync(file);
    const { mode } = statSync(path);
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      refuse("can be read by other users of the machine: chmod 600 it");
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      if (existsSync(join(folder, ".git")))
        refuse("lies in a Git repository: move it out, so that nobody commits it beside what it masks");
      if (dirname(folder) === folder) break;
    }
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (error instanceof MaskError) throw error;
    return refuse(`can't be read: ${messageOf(error)}`);
  }
}
