import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { packageFolder } from "../../machine/ownPackage.ts";
import type { Outgoing } from "../http/server.ts";

// Read from the package's own folder, so that what a browser gets is what stands there.
const folder = join(packageFolder, "emulator/console");
const library = dirname(fileURLToPath(import.meta.resolve("lit-html")));

const types: Record<string, string> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};

/** Policy that lets a browser load these files alone, whatever the rows of the platform hold. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // Nothing makes markup but the library's templates, in which values are never parsed.
  "require-trusted-types-for 'script'",
  "trusted-types lit-html",
].join("; ");

/** A file of the console by its path, or of lit-html below `lit-html/`; undefined when there is none. */
export function consoleFile(path: string): Outgoing | undefined {
  const [, fromLibrary, file = "", ending = ""] =
    /^(lit-html\/)?((?:[\w-]+\/)?[\w-]+\.(html|css|js))$/.exec(path) ?? [];
  const type = types[ending];
  if (type === undefined) return undefined;
  const headers = {
    "content-type": type,
    "content-security-policy": policy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  };
  try {
    return { status: 200, body: readFileSync(join(fromLibrary === undefined ? folder : library, file)), headers };
  } catch {
    return undefined;
  }
}
