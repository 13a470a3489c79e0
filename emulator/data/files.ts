import { createHash, createHmac } from "node:crypto";
import type { CallContext } from "./callContext.ts";
import type { Database } from "./database.ts";
import { newToken } from "./hashing.ts";

/** A file in the platform's store. Its bytes are kept once, however many files have them. */
export interface StoredFile {
  resourceID: string;
  key: string;
  filename: string;
  type: string;
  digest: string;
}

export const findFile = (database: Database, resourceID: string, key: string): StoredFile | undefined =>
  database.one<StoredFile>(
    "SELECT resource_id AS resourceID, key, filename, type, digest FROM files WHERE resource_id = ? AND key = ?",
    ...[resourceID, key],
  );

/** Keeps bytes under their digest. */
export function keepContent(database: Database, bytes: Uint8Array): string {
  const digest = createHash("sha256").update(bytes).digest("hex");
  database.run("INSERT OR IGNORE INTO contents VALUES (?, ?)", digest, bytes);
  return digest;
}

export function keepFile({ database, now }: Pick<CallContext, "database" | "now">, file: StoredFile): void {
  database.run(
    "INSERT OR REPLACE INTO files (resource_id, key, filename, type, digest, created) VALUES (?, ?, ?, ?, ?, ?)",
    ...[file.resourceID, file.key, file.filename, file.type, file.digest, now],
  );
}

/** Path prefix of signed files, which need no token. */
export const filePath = "/files/";

/** An address that serves a file to whoever has it. */
export function signUrl(
  { database, url }: Pick<CallContext, "database" | "url">,
  { resourceID, key }: StoredFile,
): string {
  const parts = [resourceID, ...key.split("/")].map(encodeURIComponent);
  return `${url}${filePath}${parts.join("/")}?signature=${signature(database, resourceID, key)}`;
}

/** The file that the path of an address and its signature name. */
export function findSignedFile(
  database: Database,
  path: string,
  query: URLSearchParams,
): (StoredFile & { bytes: Buffer }) | undefined {
  const [resourceID = "", ...rest] = partsOf(path);
  const key = rest.join("/");
  if (query.get("signature") !== signature(database, resourceID, key)) return undefined;
  const file = findFile(database, resourceID, key);
  if (!file) return undefined;
  const content = database.one<{ bytes: Uint8Array }>("SELECT bytes FROM contents WHERE digest = ?", file.digest);
  return { ...file, bytes: Buffer.from(content?.bytes ?? []) };
}

function partsOf(path: string): string[] {
  try {
    return path.split("/").map(decodeURIComponent);
  } catch {
    return []; // a stray % is in no address that was signed
  }
}

/** Signs with the platform's own key, made when it is first needed, so that addresses outlive a restart. */
function signature(database: Database, resourceID: string, key: string): string {
  database.run("INSERT OR IGNORE INTO meta VALUES ('signingKey', ?)", newToken());
  const own = database.one<{ value: string }>("SELECT value FROM meta WHERE key = 'signingKey'")?.value ?? "";
  return createHmac("sha256", own)
    .update(JSON.stringify([resourceID, key]))
    .digest("base64url");
}
