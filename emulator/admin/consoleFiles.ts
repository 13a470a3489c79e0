import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Outgoing } from "../http/server.ts";

// Read from the package's own folder, so that what a browser gets is what stands there.
const folder = join(import.meta.dirname, "../../../emulator/console");

const types: Record<string, string> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};

/** A browser takes nothing but this folder, whatever the platform's rows say. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** A file of the console by name; undefined when it has none such. */
export function consoleFile(name: string): Outgoing | undefined {
  const type = types[/^[\w-]+\.(html|css|js)$/.exec(name)?.[1] ?? ""];
  if (type === undefined) return undefined;
  const headers = {
    "content-type": type,
    "content-security-policy": policy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  };
  try {
    return { status: 200, body: readFileSync(join(folder, name)), headers };
  } catch {
    return undefined;
  }
}
