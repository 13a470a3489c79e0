import { count, plural } from "./format.js";
import { html } from "./lit-html/lit-html.js";
import { emailOf, link, model } from "./model.js";

// What a call changed, by its request and its answer.

const tableOf = ({ microAppID }) => {
  const table = model.tables.find(({ id }) => id === microAppID);
  return table ? html`<a href=${link("tables", table.id)}>${table.name}</a>` : microAppID;
};

const teamOf = (teamID) => {
  for (const organization of model.organizations) {
    const team = organization.teams.find(({ id }) => id === teamID);
    if (team) return html`<a href=${link("organizations", organization.id, teamID)}>${team.name}</a>`;
  }
  return teamID;
};

const organizationOf = (id) => {
  const organization = model.organizations.find((known) => known.id === id);
  return organization ? html`<a href=${link("organizations", id)}>${organization.name}</a>` : id;
};

const made = (answer, ...names) => names.map((name) => answer?.[name] ?? answer?.body?.[name]).find(Boolean);
const idIn = (answer) => {
  const result = made(answer, "result");
  return typeof result === "object" ? result?._id : result;
};
const person = ({ userID, email }) => email ?? emailOf(userID) ?? "the member";

const effects = {
  insertmicroapprow: ({ request, answer }) => html`1 row in ${tableOf(request)}: ${made(answer, "rowID")}`,
  insertmicroapprows: ({ request, answer }) =>
    html`${plural(made(answer, "inserted") ?? 0, "row")} in ${tableOf(request)}`,
  updatemicroapprow: ({ request }) => html`${Object.keys(request.rowData ?? {}).join(", ")} of row ${request.rowID}`,
  removemicroapprow: ({ request }) => html`Row ${request.rowID} is gone`,
  insertorganization: ({ answer }) => html`Organization ${organizationOf(idIn(answer))} is new`,
  updateorganization: ({ request }) => html`Organization ${organizationOf(request.organizationID)}`,
  deleteorganization: ({ request }) => html`Organization ${request.organizationID} is gone, with its teams`,
  insertteam: ({ answer }) => html`Team ${teamOf(idIn(answer))} is new`,
  updateteam: ({ request }) => html`Team ${teamOf(request.teamID)}`,
  deleteteam: ({ request }) => html`Team ${request.teamID} is gone`,
  insertteammembers: ({ request }) =>
    html`${count([...(request.emails ?? []), ...(request.userIDs ?? [])].length)} people in
    ${(request.teamIDs ?? [request.teamID]).map((id) => html`${teamOf(id)} `)}`,
  updateteammember: ({ request }) => html`${person(request)} is ${request.role} of ${teamOf(request.teamID)}`,
  deleteteammember: ({ request }) => html`${person(request)} is no longer in ${teamOf(request.teamID)}`,
  enforceteammembership: ({ request }) =>
    html`${person(request)} is in ${(request.teamIDs ?? []).map((id) => html`${teamOf(id)} `)}and in no other team`,
};

/** Describes what a call changed; empty where it changed nothing, or where its own texts tell as much. */
export function effectOf(call) {
  if (!call.mutating || call.status !== 200 || call.failure !== null) return "";
  if (call.request.sha256 !== undefined && call.endpoint !== "insertmicroapprows") return "";
  return Object.hasOwn(effects, call.endpoint) ? html`Changed: ${effects[call.endpoint](call)}` : "";
}
