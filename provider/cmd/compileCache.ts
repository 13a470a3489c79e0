import module from "node:module";
import { ownFolder } from "../../machine/ownFolder.ts";

/**
 * Compiles nothing twice, where there is a folder of one's own for it: into one that others write to, as Node's own
 * place, they could plant code.
 */
export function compileOnce(): void {
  const folder = ownFolder("cache", "compiled", process.env);
  // A Node of before 22.1 has no such cache.
  const { enableCompileCache } = module as Partial<typeof module>;
  if (folder !== undefined) enableCompileCache?.(folder);
}
