import { compose } from "./dialogs.js";

// Forms of organizations, teams and members; what they send is the interface's own.

const line = (name, label, value = "", hint = "") => ({ name, label, value: value ?? "", hint });

/** The values of a form that differ from those that it began with; an empty description is null. */
const changes = (fields, values) =>
  Object.fromEntries(
    fields
      .filter(({ name, value }) => values[name] !== value)
      .map(({ name }) => [name, values[name] === "" && name === "description" ? null : values[name]]),
  );

function edit({ title, fields, action, call }) {
  return compose({
    title,
    fields,
    action,
    callOf: (values) => {
      if (values.name.trim() === "") throw new Error("The name is missing.");
      const info = changes(fields, values);
      return Object.keys(info).length === 0 ? undefined : call(info);
    },
  });
}

const named = (value) => [line("name", "Name", value?.name), line("description", "Description", value?.description)];

export const insertOrganization = () =>
  edit({
    title: "New organization",
    fields: named(),
    action: "Create",
    call: (organizationInfo) => ({ endpoint: "insertorganization", request: { organizationInfo } }),
  });

export const updateOrganization = (organization) =>
  edit({
    title: `Edit ${organization.name}`,
    fields: named(organization),
    action: "Save",
    call: (organizationInfo) => ({
      endpoint: "updateorganization",
      request: { organizationID: organization.id, organizationInfo },
    }),
  });

export const deleteOrganization = ({ id, name }) =>
  remove(`Delete ${name}?`, { endpoint: "deleteorganization", request: { organizationID: id } });

export const insertTeam = ({ id, name }) =>
  edit({
    title: `New team of ${name}`,
    fields: named(),
    action: "Create",
    call: (teamInfo) => ({ endpoint: "insertteam", request: { teamInfo: { organizationID: id, ...teamInfo } } }),
  });

export const updateTeam = (team) =>
  edit({
    title: `Edit ${team.name}`,
    fields: named(team),
    action: "Save",
    call: (teamInfo) => ({ endpoint: "updateteam", request: { teamID: team.id, teamInfo } }),
  });

export const deleteTeam = ({ id, name }) =>
  remove(`Delete ${name}?`, { endpoint: "deleteteam", request: { teamID: id } });

export const insertMembers = ({ id, name }) =>
  compose({
    title: `Add members to ${name}`,
    fields: [line("emails", "E-mail addresses", "", "With commas between them; who has no account is invited")],
    action: "Add",
    callOf: (values) => {
      const emails = values.emails.split(/[,;\s]+/).filter((email) => email !== "");
      return emails.length === 0 ? undefined : { endpoint: "insertteammembers", request: { teamIDs: [id], emails } };
    },
  });

export const updateMember = (team, { userID, email, role }) =>
  compose({
    title: `Role of ${email}`,
    fields: [{ name: "role", label: "Role", kind: "choice", value: role, choices: [["member"], ["admin"]] }],
    action: "Save",
    callOf: (values) =>
      values.role === role
        ? undefined
        : { endpoint: "updateteammember", request: { teamID: team.id, userID, role: values.role } },
  });

export const deleteMember = (team, { userID, email }) =>
  remove(`Remove ${email} from ${team.name}?`, {
    endpoint: "deleteteammember",
    request: { teamID: team.id, userID },
  });

const remove = (title, call) =>
  compose({ title, action: title.startsWith("Remove") ? "Remove" : "Delete", danger: true, callOf: () => call });
