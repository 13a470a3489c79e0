import type { EndpointName, ParsedRequestOf } from "../../provider/contract/endpoints.ts";
import type { CallContext } from "../data/callContext.ts";
import * as apps from "./apps.ts";
import * as authentication from "./authentication.ts";
import * as children from "./children.ts";
import type { Handlers } from "./handler.ts";
import * as members from "./members.ts";
import { sendnotification } from "./notifications.ts";
import * as organizations from "./organizations.ts";
import * as rowReads from "./rowReads.ts";
import * as rowWrites from "./rowWrites.ts";
import * as teams from "./teams.ts";

/** The handler of each endpoint. A missing one does not compile. */
const handlers: Handlers = {
  login: authentication.login,
  logout: authentication.logout,
  userid: authentication.userid,
  microappdata: rowReads.microappdata,
  microappdataRow: rowReads.microappdataRow,
  insertmicroapprow: rowWrites.insertmicroapprow,
  insertmicroapprows: rowWrites.insertmicroapprows,
  updatemicroapprow: rowWrites.updatemicroapprow,
  removemicroapprow: rowWrites.removemicroapprow,
  microappchildList: children.microappchildList,
  microappchildCreate: children.microappchildCreate,
  microappchildRead: children.microappchildRead,
  microappchildUpdate: children.microappchildUpdate,
  microappchildDelete: children.microappchildDelete,
  microappchildStorecopy: children.microappchildStorecopy,
  microappchildUploadFileToStore: children.microappchildUploadFileToStore,
  sendnotification: sendnotification,
  createappwithprompt: apps.createappwithprompt,
  createappwithpromptStatus: apps.createappwithpromptStatus,
  insertorganization: organizations.insertorganization,
  readorganization: organizations.readorganization,
  updateorganization: organizations.updateorganization,
  deleteorganization: organizations.deleteorganization,
  insertteam: teams.insertteam,
  readteam: teams.readteam,
  updateteam: teams.updateteam,
  deleteteam: teams.deleteteam,
  insertteammembers: members.insertteammembers,
  teammembers: members.teammembers,
  readteammember: members.readteammember,
  updateteammember: members.updateteammember,
  deleteteammember: members.deleteteammember,
  enforceteammembership: members.enforceteammembership,
};

type Preparations = {
  [Name in EndpointName]?: (request: ParsedRequestOf<Name>, call: CallContext) => Promise<unknown>;
};

const needed: Preparations = {
  microappchildUploadFileToStore: children.prepareUpload,
};

// Preparations and handlers by a name known at run time only: the contract has validated the request, and the handler's
// type checks the answer.

/** Slow work that is done before the transaction begins; its result is the call's `fetched`. */
export const preparations = needed as Partial<
  Record<EndpointName, (request: unknown, call: CallContext) => Promise<unknown>>
>;

export const handlerOf = (name: EndpointName) => handlers[name] as (request: unknown, call: CallContext) => unknown;
