import { h, table, time, whole } from "./elements.js";
import { ask } from "./service.js";

/** Stored files, and the records on rows that speak of files. */
export async function files(root) {
  async function refresh() {
    const { files, children } = await ask("files");
    const stored = files.map(({ href, filename, key, resourceID, type, bytes, created }) => [
      h("a", { href, download: filename }, filename),
      type,
      bytes,
      resourceID,
      key,
      time(created),
    ]);
    const records = children.map((child) => [
      child.content.filename ?? "",
      child.rowID,
      child.fieldID,
      child._id,
      whole(child),
    ]);
    root.replaceChildren(
      h("h2", {}, "Files"),
      table("Stored files", ["Name", "Type", "Bytes", "Resource", "Key", "Stored"], stored),
      h("h3", {}, "Child records"),
      table("Records on rows", ["Name", "Row", "Field", "ID", ""], records),
    );
  }
  await refresh();
  return { refresh };
}
