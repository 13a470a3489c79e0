import type { AnswerOf, EndpointName, ParsedRequestOf } from "../../provider/contract/endpoints.ts";
import type { Member } from "../../provider/contract/members.ts";
import type { Row } from "../../provider/contract/values.ts";
import { isObject } from "../../provider/contract/wire.ts";
import { Directory } from "./directory.ts";
import type { RecordedExchange } from "./exchange.ts";
import { comparable, KnownTables, type KnownRow, type KnownTable } from "./tables.ts";

type Call<Name extends EndpointName> = {
  request: ParsedRequestOf<Name>;
  answer: AnswerOf<Name>;
  /** User ID of the caller. */
  caller: string | undefined;
  time: number;
};
type Takers = { readonly [Name in EndpointName]?: (call: Call<Name>) => void };

/** Knowledge about a platform, gathered from exchanges. */
export class Known {
  readonly tables = new KnownTables();
  readonly people = new Directory();
  /** Calls whose effect a seed can't have, by what they are about. */
  readonly beside = new Map<"files" | "apps" | "notifications", number>();

  /** Learns from a call's answer and effect. */
  take({ name, headers, request, answer, time, refused }: RecordedExchange): void {
    const { "x-user-id": caller } = headers;
    if (refused !== undefined || request === undefined || answer === undefined) return;
    if (caller !== undefined) this.people.first ??= this.people.user(caller, undefined);
    // The call is of the endpoint's types: the contract has read both.
    this.#takers[name]?.({ request, answer, caller, time } as never);
  }

  #besides(what: "files" | "apps" | "notifications"): () => void {
    return () => this.beside.set(what, (this.beside.get(what) ?? 0) + 1);
  }

  #fileField({ fieldID, rowID, tableID }: { fieldID: string; rowID: string; tableID?: string | undefined }): void {
    const table = tableID === undefined ? this.tables.find(rowID)?.table : this.tables.table(tableID);
    if (table && !table.fieldIDs.has(fieldID)) table.fieldIDs.set(fieldID, new Set());
  }

  readonly #takers: Takers = {
    login: ({ request, answer }) => {
      const user = this.people.user(answer.userId, request.email);
      if (user) user.logsIn = true;
      this.people.first ??= user;
    },
    userid: ({ request, answer }) => void this.people.user(answer.userID, request.email),
    microappdata: ({ request, answer }) => this.#read(request, answer.microAppRows),
    microappdataRow: ({ answer: { currentRow } }) => {
      if (!currentRow) return;
      const { _id, parentResourceID: id } = currentRow;
      const table = this.tables.find(_id)?.table ?? (typeof id === "string" ? this.tables.table(id) : undefined);
      if (table) this.tables.seen(table, currentRow);
    },
    insertmicroapprow: ({ request, answer, caller, time }) => {
      const { microAppID, rowData, userID = caller, embeddingRowID: parent, viewers = [], teamViewers = [] } = request;
      const rest = { creator: userID, parent, viewers, teamViewers, submitted: time };
      this.#write(microAppID, answer.rowID, rowData, rest);
    },
    insertmicroapprows: ({ request, caller, time }) => {
      const { microAppID, rows, userID = caller, embeddingRowID, viewers = [], teamViewers = [] } = request;
      for (const { embeddingRowID: own, ...values } of rows) {
        const parent = typeof own === "string" ? own : embeddingRowID;
        this.#write(microAppID, undefined, values, { creator: userID, parent, viewers, teamViewers, submitted: time });
      }
    },
    updatemicroapprow: ({ request: { rowID, rowData } }) => this.tables.changed(rowID, rowData),
    removemicroapprow: ({ request: { rowID } }) => this.tables.removed(rowID),
    microappchildList: ({ request: { appID, fieldID } }) => this.#fileField({ rowID: appID, fieldID }),
    microappchildCreate: ({ request: { appID, fieldID, microAppResourceID } }) => {
      this.#fileField({ rowID: appID, fieldID, tableID: microAppResourceID });
      this.#besides("files")();
    },
    microappchildUploadFileToStore: this.#besides("files"),
    sendnotification: this.#besides("notifications"),
    createappwithprompt: this.#besides("apps"),
    insertorganization: ({ request: { organizationInfo }, answer }) =>
      this.people.organization(answer.organizationID, organizationInfo),
    readorganization: ({ answer: { organization } }) => {
      if (organization) this.people.organization(organization._id, named(organization));
    },
    updateorganization: ({ request: { organizationID, organizationInfo } }) =>
      this.people.organization(organizationID, organizationInfo),
    deleteorganization: ({ request }) => this.people.deleteOrganization(request.organizationID),
    insertteam: ({ request: { teamInfo }, answer }) => this.people.team(answer.teamID, teamInfo),
    readteam: ({ answer: { team } }) => {
      if (!team) return;
      if (team.organizationID !== undefined) this.#knowOrganization(team.organizationID);
      this.people.team(team._id, { ...named(team), organizationID: team.organizationID });
    },
    updateteam: ({ request: { teamID, teamInfo } }) => this.people.team(teamID, teamInfo),
    deleteteam: ({ request }) => void this.people.teams.delete(request.teamID),
    insertteammembers: ({ request: { teamIDs, emails = [], userIDs = [] } }) => {
      const members: Member[] = [...emails.map((email) => ({ email })), ...userIDs.map((userID) => ({ userID }))];
      for (const teamID of teamIDs) for (const member of members) this.people.join(teamID, member);
    },
    teammembers: ({ request: { teamIDs }, answer: { teamMembers } }) => {
      for (const id of teamIDs) {
        const own = teamMembers.filter(({ teamID = teamIDs.length === 1 ? id : undefined }) => teamID === id);
        if (own.length > 0 || teamIDs.length === 1) this.people.listed(id, own);
      }
    },
    readteammember: ({ request, answer: { teamMember } }) => {
      const teamID = teamMember?.teamID ?? request.teamID;
      if (teamMember && teamID !== undefined)
        this.people.join(teamID, { userID: request.userID, ...defined(teamMember) });
    },
    updateteammember: ({ request }) => {
      for (const { member } of this.people.named(request)) member.role = request.role;
    },
    deleteteammember: ({ request }) => {
      for (const { team, member } of this.people.named(request)) team.members.splice(team.members.indexOf(member), 1);
    },
    enforceteammembership: ({ request: { teamIDs, ...member } }) => this.people.enforce(teamIDs, defined(member)),
  };

  #knowOrganization(id: string): void {
    if (!this.people.organizations.has(id)) this.people.organization(id, {});
  }

  #write(tableID: string, id: string | undefined, values: Record<string, unknown>, rest: Partial<KnownRow>): void {
    const table = this.tables.table(tableID);
    if (table) this.tables.written(table, id, values, rest);
  }

  #read(request: ParsedRequestOf<"microappdata">, rows: Row[]): void {
    const table = this.tables.table(request.microAppID);
    if (!table || request.platformFormat === true) return; // raw rows have field IDs for labels
    for (const row of rows) this.tables.seen(table, row);
    this.#learnOrder(table, request, rows);
    for (const { fieldID, value, resourceID = table.id } of request.optSearchFilters ?? []) {
      if (resourceID === table.id) this.tables.matched(table, fieldID, value, rows);
    }
    for (const [name, wanted] of (request.optViewFilters ?? []).flatMap((filter) => Object.entries(filter))) {
      const [, digits] = /^sortVal(\d*)$/.exec(name) ?? [];
      if (digits !== undefined && rows.length > 0) {
        this.tables.sortedBy(table, Number(digits || 1), rows, (value) => passes(value, wanted));
      }
    }
  }

  /** The first sort of a read is the order that its rows came in. */
  #learnOrder(table: KnownTable, { searchFilter, optViewSort }: ParsedRequestOf<"microappdata">, rows: Row[]): void {
    const view = isObject(optViewSort) ? Object.entries(optViewSort)[0] : undefined;
    const [, digits] = /^sortVal(\d*)$/.exec(view?.[0] ?? "") ?? [];
    const first = searchFilter?.find(({ field }) => field !== undefined);
    if (optViewSort !== undefined) {
      if (digits !== undefined) this.tables.ordered(table, Number(digits || 1), Number(view?.[1]), rows);
    } else if (first && /^\d+$/.test(first.field ?? "")) {
      this.tables.ordered(table, Number(first.field), first.order ?? 1, rows);
    }
  }
}

const named = ({ name, description }: { name: string; description?: string | null | undefined }) => ({
  name,
  description,
});

const defined = (member: Member): Member =>
  Object.fromEntries(Object.entries(member).filter(([, value]) => value !== undefined));

/** False when a filter on a sort field must have excluded the value. Doubtful values pass. */
function passes(value: unknown, wanted: unknown): boolean {
  if (!isObject(wanted)) return value === wanted || typeof wanted === "boolean";
  const [seen, isOrdered] = [comparable(value), (operator: string) => /^\$(gte?|lte?|eq)$/.test(operator)];
  return Object.entries(wanted).every(([operator, written]) => {
    const bound = comparable(written);
    if (!isOrdered(operator)) return true;
    if (seen === undefined || bound === undefined || typeof seen !== typeof bound) return false;
    if (operator.startsWith("$gt")) return seen >= bound;
    return operator === "$eq" ? seen === bound : seen <= bound;
  });
}
