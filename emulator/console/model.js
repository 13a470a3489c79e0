import { ask } from "./service.js";

/** What the side bar and several views show: tables, organizations with teams and members, and users. */
export const model = { tables: [], organizations: [], users: [] };

let redraw = () => undefined;
let counting;
let isStale = false;

/** Has the page show numbers of rows that come later. */
export const onCounted = (draw) => void (redraw = draw);

export async function loadModel() {
  const [{ tables }, { organizations }, { users }] = await Promise.all([
    ask("tables", { query: { counts: false } }),
    ask("organizations"),
    ask("users"),
  ]);
  const isLong = tables.some(({ rows }) => rows === null);
  Object.assign(model, { tables: withCounts(tables, model.tables), organizations, users });
  isStale = isLong;
  if (isLong) counting ??= countTables().finally(() => (counting = undefined));
}

/** Tables with the numbers of rows that were counted elsewhere, where their own are missing. */
const withCounts = (tables, counted) =>
  tables.map((table) => ({ ...table, rows: table.rows ?? counted.find(({ id }) => id === table.id)?.rows ?? null }));

/** Counts large tables while they are shown already, as long as somebody changes them. */
async function countTables() {
  while (isStale) {
    isStale = false;
    try {
      const { tables } = await ask("tables");
      model.tables = withCounts(
        model.tables.map(({ rows, ...table }) => table),
        tables,
      );
    } catch {
      return; // the next load of the model shows what is wrong
    }
    redraw();
  }
}

export const emailOf = (userID) => model.users.find(({ id }) => id === userID)?.email ?? userID;

/** Address of a place in the console. */
export const link = (...path) => `#${path.map(encodeURIComponent).join("/")}`;
