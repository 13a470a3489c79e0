import { setFlagsFromString } from "node:v8";

let isSmall = false;

/**
 * Keeps this process small while rows stream through it: they are many and short-lived, and left to itself V8 takes
 * 200 MB more for them to save a tenth of the work. A process without rows keeps V8's own ways: many members of a team
 * cost it a sixth less.
 */
export function keepMemorySmallFor({ name }: { name: string }): void {
  if (isSmall || name !== "SeedRows") return;
  isSmall = true;
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=60");
}
