import { plural } from "../format.js";
import { html } from "../lit-html/lit-html.js";
import { link, loadModel, model } from "../model.js";
import { notify } from "../notices.js";
import { copyable, empty, header, missing, pill, table } from "../parts.js";
import {
  deleteMember,
  deleteOrganization,
  deleteTeam,
  insertMembers,
  insertOrganization,
  insertTeam,
  updateMember,
  updateOrganization,
  updateTeam,
} from "../peopleCalls.js";

const last = { label: "ID", kind: "last" };

/** All organizations; below an ID, one with its teams; below a team's, its members. */
export function organizations({ path: [organizationID = "", teamID = ""], redraw }) {
  const act = (label, compose, { danger = false, after } = {}) =>
    html`<button
      type="button"
      class=${danger ? "danger" : ""}
      @click=${async () => {
        if (!(await compose())) return;
        await loadModel();
        notify("Done");
        if (after !== undefined) location.hash = after;
        redraw();
      }}
    >
      ${label}
    </button>`;
  const organization = () => model.organizations.find(({ id }) => id === organizationID);
  const team = () => organization()?.teams.find(({ id }) => id === teamID);
  if (organizationID === "") return { title: "Organizations", template: () => all(act) };
  return {
    title: (teamID === "" ? organization() : team())?.name ?? "Not found",
    template: () => {
      const [of, chosen] = [organization(), team()];
      if (!of) return missing("such organization", organizationID, "#organizations", "All organizations");
      if (teamID === "") return teamsOf(of, act);
      if (!chosen)
        return missing("such team", teamID, link("organizations", organizationID), `All teams of ${of.name}`);
      return membersOf(of, chosen, act);
    },
  };
}

const peopleIn = ({ teams }) => new Set(teams.flatMap(({ members }) => members.map(({ userID }) => userID))).size;

function all(act) {
  const cells = (organization) => [
    html`<a href=${link("organizations", organization.id)}>${organization.name}</a>`,
    organization.description ?? "",
    organization.teams.length,
    peopleIn(organization),
    copyable(organization.id),
  ];
  const number = (label) => ({ label, kind: "number" });
  return html`
    ${header("Organizations", { actions: act("New organization", insertOrganization) })}
    ${table(
      plural(model.organizations.length, "organization"),
      ["Name", "Description", number("Teams"), number("People"), last],
      model.organizations.map(cells),
      empty("There are no organizations", "insertorganization creates one."),
    )}
  `;
}

const identified = (id) => html`<span class="quiet">ID</span> ${copyable(id)}`;

function teamsOf(organization, act) {
  const cells = ({ id, name, description, members, isAllMembers }) => [
    html`<a href=${link("organizations", organization.id, id)}>${name}</a>`,
    description ?? (isAllMembers ? "Everyone in the organization" : ""),
    members.length,
    copyable(id),
  ];
  return html`
    <p class="way"><a href="#organizations">Organizations</a></p>
    ${header(organization.name, {
      note: organization.description ?? "",
      actions: html`${identified(organization.id)} ${act("New team", () => insertTeam(organization))}
      ${act("Edit", () => updateOrganization(organization))}
      ${act("Delete", () => deleteOrganization(organization), { danger: true, after: "#organizations" })}`,
    })}
    ${table(
      plural(organization.teams.length, "team"),
      ["Team", "Description", { label: "Members", kind: "number" }, last],
      organization.teams.map(cells),
    )}
  `;
}

function membersOf(organization, team, act) {
  const { id, name, description, members } = team;
  const cells = (member) => [
    html`<a href=${link("users", member.userID)}>${member.email}</a>`,
    pill(member.role, member.role === "admin" ? "strong" : ""),
    copyable(member.userID),
    html`<span class="actions">
      ${act("Role", () => updateMember(team, member))}
      ${act("Remove", () => deleteMember(team, member), { danger: true })}
    </span>`,
  ];
  return html`
    <p class="way">
      <a href="#organizations">Organizations</a> /
      <a href=${link("organizations", organization.id)}>${organization.name}</a>
    </p>
    ${header(name, {
      note: description ?? "",
      actions: html`${identified(id)} ${act("Add members", () => insertMembers(team))}
      ${act("Edit", () => updateTeam(team))}
      ${act("Delete", () => deleteTeam(team), { danger: true, after: link("organizations", organization.id) })}`,
    })}
    ${table(plural(members.length, "member"), ["E-mail address", "Role", last, { label: "Change", kind: "last" }], members.map(cells), empty("The team has no members"))}
  `;
}
