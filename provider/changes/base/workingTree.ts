import { existsSync, lstatSync } from "node:fs";
import { join, relative, resolve } from "node:path";

/** Why a file of the working tree is not read although it is there: something on its way is no file or folder of this repository. */
export function detourTo(root: string, folder: string, file: string): string | undefined {
  const parts = relative(root, resolve(folder, file)).replaceAll("\\", "/").split("/");
  for (let length = 1; length <= parts.length; length++) {
    const above = parts.slice(0, length).join("/");
    const place = join(root, above);
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
      return `${above} is a symbolic link: it is not followed`;
    }
    if (existsSync(join(place, ".git"))) return `${above} is a submodule: it is not read`;
  }
  return undefined;
}
