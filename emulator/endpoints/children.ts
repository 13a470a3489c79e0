import { messageOf } from "../../machine/failures.ts";
import type { ParsedRequestOf } from "../../platform/contract/endpoints.ts";
import type { Json } from "../../platform/contract/wire.ts";
import type { Settings } from "../../platform/seed/schema.ts";
import type { CallContext, Handler } from "../data/callContext.ts";
import { findFile, keepContent, keepFile, signUrl } from "../data/files.ts";
import { invalid, notFound, PlatformError } from "../data/platformError.ts";
import { findTable, requireTable, type Table, type TableField } from "../data/tables.ts";
import { requireVisible, requireWritable } from "../rows/filters.ts";
import { findRow, type KeptRow } from "../rows/records.ts";
import { fieldByID } from "../rows/remarks.ts";

interface Child {
  id: string;
  rowID: string;
  fieldID: string;
  content: string;
  creator: string;
  created: number;
  updated: number;
}

const columns = "id, row_id AS rowID, field_id AS fieldID, content, creator, created, updated";

export const microappchildList: Handler<"microappchildList"> = ({ appID, fieldID }, call) => {
  const row = requireRow(call, appID);
  requireVisible(call, row);
  const field = requireField(call, requireTable(call.database, row.table_id), fieldID);
  const children = call.database.all<Child>(
    `SELECT ${columns} FROM children WHERE row_id = ? AND field_id = ? ORDER BY seq`,
    ...[row.id, field.id],
  );
  return { childItems: children.map(wire) };
};

export const microappchildCreate: Handler<"microappchildCreate"> = (request, call) => {
  const { database, newID, now, user } = call;
  const row = requireRow(call, request.appID);
  requireWritable(call, row);
  if (row.table_id !== requireTable(database, request.microAppResourceID).id) {
    throw invalid(`microAppResourceID: row ${row.id} is in another data table`);
  }
  const field = requireField(call, requireTable(database, row.table_id), request.fieldID);
  const childID = newID();
  database.run(
    "INSERT INTO children (id, row_id, field_id, content, creator, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?)",
    ...[childID, row.id, field.id, JSON.stringify(request.content), user.id, now, now],
  );
  return { childID };
};

export const microappchildRead: Handler<"microappchildRead"> = ({ childID }, call) => {
  if (call.habits.childRead === "no") throw new PlatformError("notFound", "There is no endpoint for one child");
  const child = requireChild(call, childID);
  requireVisible(call, requireRow(call, child.rowID));
  return { childItem: wire(child) };
};

/** Changes the metadata that is named; the rest stays (assumed). */
export const microappchildUpdate: Handler<"microappchildUpdate"> = ({ childID, content }, call) => {
  const child = requireChild(call, childID);
  requireWritable(call, requireRow(call, child.rowID));
  const changed = JSON.stringify({ ...contentOf(child), ...content });
  call.database.run("UPDATE children SET content = ?, updated = ? WHERE id = ?", changed, call.now, childID);
  return {};
};

export const microappchildDelete: Handler<"microappchildDelete"> = ({ childID }, call) => {
  const child = requireChild(call, childID);
  requireWritable(call, requireRow(call, child.rowID));
  call.database.run("DELETE FROM children WHERE id = ?", childID);
  return {};
};

/** The source's bytes under a key of the destination: its own, unless another is named. */
export const microappchildStorecopy: Handler<"microappchildStorecopy"> = (request, call) => {
  const { sourceResourceID, destinationResourceID, fileKey, newFileKey } = request;
  requireResource(call, sourceResourceID);
  requireResource(call, destinationResourceID);
  const source = findFile(call.database, sourceResourceID, fileKey);
  if (!source) throw notFound("File", fileKey);
  const copy = { ...source, resourceID: destinationResourceID, key: newFileKey ?? fileKey };
  keepFile(call, copy);
  return { signedUrl: signUrl(call, copy) };
};

export function prepareUpload(
  { resourceID, fieldID, url }: ParsedRequestOf<"microappchildUploadFileToStore">,
  call: CallContext,
): Promise<Download> {
  requireResource(call, resourceID, fieldID); // checked before the download
  return download(url, call.settings);
}

export const microappchildUploadFileToStore: Handler<"microappchildUploadFileToStore"> = (request, call) => {
  const { resourceID, fieldID, filename } = request;
  requireResource(call, resourceID, fieldID);
  const { bytes, type, filename: itsName } = call.fetched as Download; // prepareUpload made it
  const digest = keepContent(call.database, bytes);
  const name = filename ?? (itsName === "" ? "file" : itsName);
  const file = { resourceID, key: `${fieldID}/${call.newID()}/${name}`, filename: name, type, digest };
  keepFile(call, file);
  return { url: signUrl(call, file), fileKey: file.key };
};

const contentOf = ({ content }: Child): Json => JSON.parse(content) as Json; // written by microappchildCreate

function wire(child: Child) {
  const { id, rowID, fieldID, creator, created, updated } = child;
  const content = contentOf(child);
  return { _id: id, appID: rowID, fieldID, content, userID: creator, createdAt: iso(created), updatedAt: iso(updated) };
}

const iso = (time: number): string => new Date(time).toISOString();

function requireChild({ database }: CallContext, childID: string): Child {
  const child = database.one<Child>(`SELECT ${columns} FROM children WHERE id = ?`, childID);
  if (!child) throw notFound("Child", childID);
  return child;
}

function requireRow({ database }: CallContext, rowID: string): KeptRow {
  const row = findRow(database, rowID);
  if (!row) throw notFound("Row", rowID);
  return row;
}

/** A field of a table that takes files. */
function requireField(call: CallContext, table: Table, fieldID: string): TableField {
  const field = fieldByID(call, table, fieldID, "fieldID");
  if (!field) throw notFound("Field", fieldID);
  if (field.type !== "file") throw invalid(`fieldID: ${field.label} is not a file field`); // assumed
  return field;
}

/**
 * A resource that files belong to: a data table, a row or an app (assumed). A field that is named must be one of the
 * table's or of the row's.
 */
function requireResource(call: CallContext, resourceID: string, fieldID?: string): void {
  const row = findRow(call.database, resourceID);
  if (row) requireVisible(call, row);
  const table = findTable(call.database, row?.table_id ?? resourceID);
  if (table && fieldID !== undefined) requireField(call, table, fieldID);
  if (!table && !call.database.one("SELECT 1 FROM apps WHERE id = ?", resourceID)) {
    throw notFound("Resource", resourceID);
  }
}

/** A downloaded file. */
interface Download {
  bytes: Buffer;
  type: string;
  /** Last part of the address. */
  filename: string;
}

/**
 * Downloads a file, from hosts of the allow list only (`name`, or `name:port` for one that listens elsewhere): whoever
 * may call the platform must not reach through it what only this machine reaches. Redirections are not followed.
 */
async function download(address: string, { allowedHosts, maximumFileBytes }: Settings): Promise<Download> {
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol)) throw invalid("url must be an http(s) address");
  if (!allowedHosts.includes(url.host) && !(url.port === "" && allowedHosts.includes(url.hostname)))
    throw invalid(`url: files are not downloaded from ${url.host}; the setting allowedHosts names the hosts`);
  const limits = { redirect: "manual", signal: AbortSignal.timeout(10_000) } as const;
  try {
    const response = await fetch(url, limits);
    if (response.status !== 200) throw invalid(`url: ${url.host} answered ${response.status}`);
    const bytes = Buffer.from(await response.arrayBuffer());
    if (bytes.length > maximumFileBytes) throw invalid(`url: the file has more than ${maximumFileBytes} bytes`);
    const type = response.headers.get("content-type") ?? "application/octet-stream";
    return { bytes, type, filename: url.pathname.split("/").at(-1) ?? "" };
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    throw invalid(`url: ${url.host} can't be read: ${messageOf(error)}`);
  }
}
