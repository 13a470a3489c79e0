import { details } from "../dialogs.js";
import { bytes, plural, time } from "../format.js";
import { html } from "../lit-html/lit-html.js";
import { model } from "../model.js";
import { copyable, empty, header, table } from "../parts.js";
import { ask } from "../service.js";

const last = (label) => ({ label, kind: "last" });
const tableName = (id) => model.tables.find((table) => table.id === id)?.name ?? id;

/** Files in the platform's store, and the records on rows that speak of files. */
export function files() {
  let shown = { files: [], children: [] };
  const stored = ({ href, filename, key, resourceID, type, bytes: size, created }) => [
    html`<a href=${href} download=${filename}>${filename}</a>`,
    type,
    bytes(size),
    tableName(resourceID),
    time(created),
    copyable(key),
  ];
  const record = (child) => [
    child.content.filename ?? "",
    copyable(child.fieldID),
    copyable(child.rowID),
    copyable(child._id),
    html`<button type="button" class="plain" @click=${() => details(child.content.filename ?? "Record", child)}>
      Open
    </button>`,
  ];
  return {
    title: "Files",
    load: async () => void (shown = await ask("files")),
    template: () => html`
      ${header("Files")}
      ${table(
        plural(shown.files.length, "stored file"),
        ["Name", "Type", "Size", "Table", "Stored (UTC)", last("Key")],
        shown.files.map(stored),
        empty("Nothing is stored", "microappchildUploadFileToStore stores a file."),
      )}
      ${table(
        plural(shown.children.length, "record") + " on rows",
        ["File", "Field", "Row", last("ID"), last("Record")],
        shown.children.map(record),
      )}
    `,
  };
}
