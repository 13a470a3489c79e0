import { plural } from "../format.js";
import { html } from "../lit-html/lit-html.js";
import { link, model } from "../model.js";
import { copyable, empty, header, missing, pill, table } from "../parts.js";

const last = { label: "ID", kind: "last" };
const standing = ({ admin, invited }) =>
  admin ? pill("administrator", "strong") : invited ? pill("invited", "busy") : pill("user");

const teamsOf = (userID) =>
  model.organizations.flatMap((organization) =>
    organization.teams.flatMap((team) => {
      const member = team.members.find((member) => member.userID === userID);
      return member ? [{ organization, team, role: member.role }] : [];
    }),
  );

/** Everyone with an account; below an ID, one with their teams. */
export function users({ path: [userID = ""] }) {
  const user = () => model.users.find(({ id }) => id === userID);
  if (userID === "") return { title: "Users", template: all };
  return {
    title: user()?.email ?? "Not found",
    template: () => {
      const chosen = user();
      return chosen ? one(chosen) : missing("such user", userID, "#users", "All users");
    },
  };
}

function all() {
  const cells = (user) => [
    html`<a href=${link("users", user.id)}>${user.email}</a>`,
    standing(user),
    plural(teamsOf(user.id).length, "team"),
    copyable(user.id),
  ];
  return html`
    ${header("Users")}
    ${table(plural(model.users.length, "user"), ["E-mail address", "Standing", "Member of", last], model.users.map(cells))}
  `;
}

function one(user) {
  const cells = ({ organization, team, role }) => [
    html`<a href=${link("organizations", organization.id, team.id)}>${team.name}</a>`,
    organization.name,
    pill(role, role === "admin" ? "strong" : ""),
    copyable(team.id),
  ];
  const teams = teamsOf(user.id);
  return html`
    <p class="way"><a href="#users">Users</a></p>
    ${header(user.email, { actions: html`${standing(user)} <span class="quiet">ID</span> ${copyable(user.id)}` })}
    ${table(plural(teams.length, "team"), ["Team", "Organization", "Role", last], teams.map(cells), empty("Is in no team"))}
  `;
}
