import { html } from "../lit-html/lit-html.js";
import { plural } from "../format.js";
import { link, model } from "../model.js";
import { copyable, empty, header, missing, pill, table } from "../parts.js";

const last = { label: "ID", kind: "last" };

/** All organizations; below an ID, one with its teams; below a team's, its members. */
export function organizations({ path: [organizationID = "", teamID = ""] }) {
  const organization = () => model.organizations.find(({ id }) => id === organizationID);
  const team = () => organization()?.teams.find(({ id }) => id === teamID);
  if (organizationID === "") return { title: "Organizations", template: all };
  return {
    title: (teamID === "" ? organization() : team())?.name ?? "Not found",
    template: () => {
      const [of, chosen] = [organization(), team()];
      if (!of) return missing("such organization", organizationID, "#organizations", "All organizations");
      if (teamID === "") return teamsOf(of);
      if (!chosen)
        return missing("such team", teamID, link("organizations", organizationID), `All teams of ${of.name}`);
      return membersOf(of, chosen);
    },
  };
}

const peopleIn = ({ teams }) => new Set(teams.flatMap(({ members }) => members.map(({ userID }) => userID))).size;

function all() {
  const cells = (organization) => [
    html`<a href=${link("organizations", organization.id)}>${organization.name}</a>`,
    organization.description ?? "",
    organization.teams.length,
    peopleIn(organization),
    copyable(organization.id),
  ];
  const number = (label) => ({ label, kind: "number" });
  return html`
    ${header("Organizations")}
    ${table(
      plural(model.organizations.length, "organization"),
      ["Name", "Description", number("Teams"), number("People"), last],
      model.organizations.map(cells),
      empty("There are no organizations", "insertorganization creates one."),
    )}
  `;
}

const identified = (id) => html`<span class="quiet">ID</span> ${copyable(id)}`;

function teamsOf(organization) {
  const cells = ({ id, name, description, members, isAllMembers }) => [
    html`<a href=${link("organizations", organization.id, id)}>${name}</a>`,
    description ?? (isAllMembers ? "Everyone in the organization" : ""),
    members.length,
    copyable(id),
  ];
  return html`
    <p class="way"><a href="#organizations">Organizations</a></p>
    ${header(organization.name, { note: organization.description ?? "", actions: identified(organization.id) })}
    ${table(
      plural(organization.teams.length, "team"),
      ["Team", "Description", { label: "Members", kind: "number" }, last],
      organization.teams.map(cells),
    )}
  `;
}

function membersOf(organization, { id, name, description, members }) {
  const cells = ({ userID, email, role }) => [
    html`<a href=${link("users", userID)}>${email}</a>`,
    pill(role, role === "admin" ? "strong" : ""),
    copyable(userID),
  ];
  return html`
    <p class="way">
      <a href="#organizations">Organizations</a> /
      <a href=${link("organizations", organization.id)}>${organization.name}</a>
    </p>
    ${header(name, { note: description ?? "", actions: identified(id) })}
    ${table(plural(members.length, "member"), ["E-mail address", "Role", last], members.map(cells), empty("The team has no members"))}
  `;
}
