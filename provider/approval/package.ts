import { readFileSync } from "node:fs";
import { z } from "zod";

const manifest = z.object({ name: z.string(), version: z.string() });

/** Name and version of this package. */
export const ownPackage = (): z.output<typeof manifest> =>
  manifest.parse(JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")));
