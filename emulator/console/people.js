import { live } from "./lit-html/directives/live.js";
import { html, nothing } from "./lit-html/lit-html.js";
import { button, code, count, entry, heading, link, missing, openForm, printable } from "./parts.js";
import { ask, attempt, page, send } from "./service.js";

const longest = 200;

let organizations = [];
let users = [];

async function load() {
  const [tree, known] = await Promise.all([ask("organizations"), ask("users")]);
  [organizations, users] = [tree.organizations, known.users];
}

/** Sends what a form or a control asks for, and shows what came of it. */
async function change(endpoint, request, after = location.hash) {
  await send(endpoint, request);
  await attempt(load, "Done");
  location.hash = after;
}

/** A button that asks for a name and a description, and sends those that changed; an empty description clears it. */
function editing(label, title, [endpoint, key, ids], { name = "", description } = {}, more = {}) {
  const before = [name, description ?? ""];
  const fields = ["Name", "Description"].map((field, at) => ({ label: field, value: before[at] }));
  const submit = async ([newName, newDescription]) => {
    if (newName.trim() === "") throw new Error("The name is missing");
    const info = newName === name ? {} : { name: newName };
    if (newDescription !== before[1]) info.description = newDescription || null;
    if (Object.keys(info).length > 0) await change(endpoint, { ...ids, [key]: { ...more, ...info } });
  };
  return button(label, () => openForm({ title, fields, action: "Save", submit }), name === "" ? "primary" : "");
}

/** A button that asks, and then takes something away. */
function removing(label, what, ...call) {
  const title = `${label} ${printable(what)}?`;
  const open = () => openForm({ title, action: label, kind: "danger", submit: () => change(...call) });
  return button(label, open, "danger");
}

function organizationActions({ id, name, description }) {
  const ids = { organizationID: id };
  const shown = printable(name);
  return [
    editing("New team", `New team of ${shown}`, ["insertteam", "teamInfo"], {}, ids),
    editing("Edit", `Edit ${shown}`, ["updateorganization", "organizationInfo", ids], { name, description }),
    removing("Delete", `${name} and its teams`, "deleteorganization", ids, "#people"),
  ];
}

function teamActions({ id, name, description }, organizationID) {
  const add = async ([addresses]) => {
    const emails = addresses.split(/[,;\s]+/).filter((email) => email !== "");
    if (emails.length > 0) await change("insertteammembers", { teamIDs: [id], emails });
  };
  const fields = [{ label: "E-mail addresses", hint: "With commas between them; who has no account is invited" }];
  const title = `Add members to ${printable(name)}`;
  return [
    button("Add members", () => openForm({ title, fields, action: "Add", submit: add }), "primary"),
    editing("Edit", `Edit ${printable(name)}`, ["updateteam", "teamInfo", { teamID: id }], { name, description }),
    removing("Delete", name, "deleteteam", { teamID: id }, link("people", organizationID)),
  ];
}

/** What a team's member is, and what may be done about it. */
function memberCells({ id: teamID, name }, { userID, email, role }) {
  const setRole = ({ target }) => attempt(() => change("updateteammember", { teamID, userID, role: target.value }));
  return [
    printable(email),
    html`<select aria-label="Role of ${printable(email)}" .value=${live(role)} @change=${setRole}>
      ${["member", "admin"].map((each) => html`<option ?selected=${each === role}>${each}</option>`)}
    </select>`,
    removing("Remove", `${email} from ${name}`, "deleteteammember", { teamID, userID }),
    code(userID),
  ];
}

/** Links to the teams of each user, by the user's ID. */
function teamsByUser(some) {
  const links = new Map();
  for (const organization of some) {
    for (const { id, name, members } of organization.teams) {
      const label = printable(`${organization.name}: ${name}`);
      for (const { userID, role } of members) {
        const way = html`<div>
          <a href=${link("people", organization.id, id)}>${label}</a>${role === "admin" ? ", admin" : ""}
        </div>`;
        links.set(userID, [...(links.get(userID) ?? []), way]);
      }
    }
  }
  return links;
}

/** Everyone with an account; below the ID of an organization who is in it; below a team's, its members. */
export function people({ path: [organizationID = "", teamID = ""] }) {
  let words = "";
  const organization = () => organizations.find(({ id }) => id === organizationID);
  const team = () => organization()?.teams.find(({ id }) => id === teamID);

  /** A table of those people whose address has what is searched. */
  const found = (some, columns, cells) => {
    const fitting = some.filter(({ email }) => email.toLowerCase().includes(words));
    const search = ({ target }) => {
      words = target.value.trim().toLowerCase();
      page.draw();
    };
    const size = `${fitting.length > longest ? `The first ${longest} of ` : ""}${count(fitting.length)}`;
    const row = (person) =>
      html`<tr>
        ${cells(person).map((cell) => html`<td>${cell}</td>`)}
      </tr>`;
    return html`
      <div class="bar">
        <input type="search" aria-label="Search" placeholder="E-mail address" @input=${search} />
        <span class="quiet" role="status">${size}</span>
      </div>
      <div class="scroll" tabindex="0" role="region" aria-label="People">
        <table aria-label="People">
          <thead>
            <tr>
              ${columns.map((column) => html`<th scope="col">${column}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${fitting.slice(0, longest).map(row)}
          </tbody>
        </table>
        <p class="empty" ?hidden=${fitting.length > 0}>Nobody is there</p>
      </div>
    `;
  };

  const usersOf = (some) => {
    const teams = teamsByUser(some);
    const those = some === organizations ? users : users.filter(({ id }) => teams.has(id));
    return found(those, ["E-mail address", "Standing", "Teams", "ID"], ({ id, email, admin, invited }) => [
      printable(email),
      admin ? "administrator" : invited ? "invited" : "",
      teams.get(id) ?? nothing,
      code(id),
    ]);
  };

  const teamEntry = ({ id, name, members }, of) =>
    html`<li>${entry(link("people", of, id), name, members.length, id === teamID)}</li>`;

  return {
    get title() {
      return (teamID === "" ? organization() : team())?.name ?? "People";
    },
    list: () =>
      html`<ul>
        <li>${entry("#people", "Everyone", users.length, organizationID === "")}</li>
        ${organizations.map(
          ({ id, name, teams }) =>
            html`<li>
              ${entry(link("people", id), name, teams.length, id === organizationID && teamID === "")}
              <ul>
                ${teams.map((each) => teamEntry(each, id))}
              </ul>
            </li>`,
        )}
      </ul>`,
    load,
    content: () => {
      const [of, chosen] = [organization(), team()];
      if (organizationID === "") {
        const insert = editing("New organization", "New organization", ["insertorganization", "organizationInfo"]);
        return html`${heading("People", { actions: insert })} ${usersOf(organizations)}`;
      }
      if (!of) return missing("organization", organizationID);
      if (teamID === "") return html`${heading(of.name, { ...of, actions: organizationActions(of) })} ${usersOf([of])}`;
      if (!chosen) return missing("team", teamID);
      return html`${heading(chosen.name, { ...chosen, actions: teamActions(chosen, organizationID) })}
      ${found(chosen.members, ["E-mail address", "Role", "Change", "ID"], (member) => memberCells(chosen, member))}`;
    },
  };
}
