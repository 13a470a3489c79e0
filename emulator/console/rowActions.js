import { closeDialog, details } from "./dialogs.js";
import { download, maxExported } from "./exporting.js";
import { count, plural } from "./format.js";
import { act, notify } from "./notices.js";
import { insertRow, removeRow, titleOf, updateRow } from "./rowCalls.js";
import { ask } from "./service.js";

/** What a person may do with the rows of a page; `redraw` shows what came of it. */
export function rowActions(page, redraw) {
  const refresh = async () => {
    await page.load();
    redraw();
  };
  const done = async (sent, words) => {
    if (!(await sent)) return;
    await page.load();
    notify(words);
    redraw();
  };
  const mark = (row, marks) => async () => {
    closeDialog();
    await act("Marked the row", () => ask(`rows/${row._id}`, { method: "PUT", body: marks }));
    await refresh();
  };
  return {
    insert: (table) => done(insertRow(table), "Inserted the row"),
    open: (table, row) =>
      details(titleOf(table, row), row, [
        { label: "Edit", run: () => done(updateRow(table, row), "Saved the row") },
        { label: row.isLocked ? "Unlock" : "Lock", run: mark(row, { isLocked: !row.isLocked }) },
        {
          label: row.hasConflict ? "Mark as without conflict" : "Mark as in conflict",
          run: mark(row, { hasConflict: !row.hasConflict }),
        },
        { label: "Delete", danger: true, run: () => done(removeRow(table, row), "Deleted the row") },
      ]),
    exportAs: async (table, format) => {
      const labels = [...table.fields.map(({ label }) => label), "_id"];
      try {
        const saved = await download(format, { name: table.id, labels, query: page.query });
        const rest = saved.more ? `: an export has ${count(maxExported)} at most, the rest is not in it` : "";
        notify(`Exported ${plural(saved.count, "row")}${rest}`, saved.more ? "bad" : "good");
      } catch (error) {
        notify(error.message, "bad");
      }
    },
  };
}
