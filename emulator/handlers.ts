import type { EndpointName } from "../provider/contract/endpoints.ts";
import * as apps from "./apps.ts";
import * as authentication from "./authentication.ts";
import { notImplemented, type Handlers } from "./call.ts";
import * as members from "./members.ts";
import * as organizations from "./organizations.ts";
import * as rowReads from "./rowReads.ts";
import * as rowWrites from "./rowWrites.ts";
import * as teams from "./teams.ts";

/** What carries out each endpoint. One that is missing here does not compile. */
export const handlers: Handlers = {
  login: authentication.login,
  logout: authentication.logout,
  userid: authentication.userid,
  microappdata: rowReads.microappdata,
  microappdataRow: rowReads.microappdataRow,
  insertmicroapprow: rowWrites.insertmicroapprow,
  insertmicroapprows: rowWrites.insertmicroapprows,
  updatemicroapprow: rowWrites.updatemicroapprow,
  removemicroapprow: rowWrites.removemicroapprow,
  microappchildList: notImplemented("microappchildList"),
  microappchildCreate: notImplemented("microappchildCreate"),
  microappchildRead: notImplemented("microappchildRead"),
  microappchildUpdate: notImplemented("microappchildUpdate"),
  microappchildDelete: notImplemented("microappchildDelete"),
  microappchildStorecopy: notImplemented("microappchildStorecopy"),
  microappchildUploadFileToStore: notImplemented("microappchildUploadFileToStore"),
  sendnotification: notImplemented("sendnotification"),
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

/** A handler for a name that is known only at run time: the contract judges its request before and its answer after. */
export const handlerOf = (name: EndpointName) => handlers[name] as (request: unknown, call: unknown) => unknown;
