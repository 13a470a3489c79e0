import module from "node:module";
import { findOwnFolder } from "./ownFolder.ts";

/**
 * Compiles nothing twice, nor do the processes that are started from here, where there is a folder of one's own for it:
 * into one that others write to, as Node's own place, they could plant code.
 */
export function compileOnce(): void {
  if (process.env["NODE_COMPILE_CACHE"] !== undefined) return;
  const folder = findOwnFolder("cache", "compiled", process.env);
  // A Node of before 22.1 has no such cache.
  const { enableCompileCache } = module as Partial<typeof module>;
  if (folder === undefined) return;
  enableCompileCache?.(folder);
  process.env["NODE_COMPILE_CACHE"] = folder;
}
