import { ask } from "./service.js";

/** What the side bar and several views show: tables, organizations with teams and members, and users. */
export const model = { tables: [], organizations: [], users: [] };

export async function loadModel() {
  const [{ tables }, { organizations }, { users }] = await Promise.all(
    ["tables", "organizations", "users"].map((path) => ask(path)),
  );
  Object.assign(model, { tables, organizations, users });
}

export const emailOf = (userID) => model.users.find(({ id }) => id === userID)?.email ?? userID;

/** Address of a place in the console. */
export const link = (...path) => `#${path.map(encodeURIComponent).join("/")}`;
