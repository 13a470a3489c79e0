import type { z } from "zod";
import * as apps from "./apps.ts";
import type { Endpoint } from "./endpoint.ts";
import * as people from "./people.ts";
import * as rows from "./rows.ts";
import { isObject } from "./wire.ts";

export { parameters, type Effect, type Endpoint, type Received } from "./endpoint.ts";

/** All endpoints by name. The names are the platform's paths, a sub-path in camel case. */
export const endpoints = {
  login: people.login,
  logout: people.logout,
  userid: people.userid,
  microappdata: rows.microappdata,
  microappdataRow: rows.microappdataRow,
  insertmicroapprow: rows.insertmicroapprow,
  insertmicroapprows: rows.insertmicroapprows,
  updatemicroapprow: rows.updatemicroapprow,
  removemicroapprow: rows.removemicroapprow,
  microappchildList: rows.microappchildList,
  microappchildCreate: rows.microappchildCreate,
  microappchildRead: rows.microappchildRead,
  microappchildUpdate: rows.microappchildUpdate,
  microappchildDelete: rows.microappchildDelete,
  microappchildStorecopy: rows.microappchildStorecopy,
  microappchildUploadFileToStore: rows.microappchildUploadFileToStore,
  sendnotification: apps.sendnotification,
  createappwithprompt: apps.createappwithprompt,
  createappwithpromptStatus: apps.createappwithpromptStatus,
  insertorganization: people.insertorganization,
  readorganization: people.readorganization,
  updateorganization: people.updateorganization,
  deleteorganization: people.deleteorganization,
  insertteam: people.insertteam,
  readteam: people.readteam,
  updateteam: people.updateteam,
  deleteteam: people.deleteteam,
  insertteammembers: people.insertteammembers,
  teammembers: people.teammembers,
  readteammember: people.readteammember,
  updateteammember: people.updateteammember,
  deleteteammember: people.deleteteammember,
  enforceteammembership: people.enforceteammembership,
} as const satisfies Record<string, Endpoint>;

export type Endpoints = typeof endpoints;
/** Name of an endpoint, which is also the client's method. */
export type EndpointName = keyof Endpoints;

/** The request that a caller passes, in its documented form. */
export type RequestOf<Name extends EndpointName> = z.input<Endpoints[Name]["request"]>;
/** The request that a server works with, after validation. */
export type ParsedRequestOf<Name extends EndpointName> = z.output<Endpoints[Name]["request"]>;
/** The answer that a caller gets, without its envelope. */
export type AnswerOf<Name extends EndpointName> = z.output<Endpoints[Name]["answer"]>;
/** The answer that a server's handler returns, before validation. */
export type GivenAnswerOf<Name extends EndpointName> = z.input<Endpoints[Name]["answer"]>;

/**
 * Names that a deployment may spell differently on the wire, ours → theirs: the parameter `platformFormat`, and the last
 * part of two paths.
 */
export type WireNames = Readonly<Partial<Record<"platformFormat" | "storecopy" | "uploadFileToStore", string>>>;

/** Spellings of the renamed paths that are known to be in use. */
export const knownPathSpellings = { storecopy: "s3copy", uploadFileToStore: "uploadFileToS3" } as const;

export interface Route {
  name: EndpointName;
  methods: readonly string[];
}

/** The methods that an endpoint is called with. */
export const methodsOf = ({ method, path }: Pick<Endpoint, "method" | "path">): readonly Endpoint["method"][] =>
  // GET requests are also sent as POST; the parameters of `list` are also sent in the query, so GET is likely.
  method === "GET" || path.endsWith("/list") ? ["GET", "POST"] : ["POST"];

/** Endpoints by path, each under every spelling that is in use. */
export function routesOf(wireNames: WireNames = {}): ReadonlyMap<string, Route> {
  const routes = new Map<string, Route>();
  for (const [name, { path, method }] of Object.entries(endpoints)) {
    const route = { name: name as EndpointName, methods: methodsOf({ path, method }) }; // keys of the contract's table
    routes.set(path, route);
    for (const renamed of ["storecopy", "uploadFileToStore"] as const) {
      if (!path.endsWith(`/${renamed}`)) continue;
      for (const spelling of [knownPathSpellings[renamed], wireNames[renamed]]) {
        if (spelling !== undefined) routes.set(path.replace(/[^/]+$/, spelling), route);
      }
    }
  }
  return routes;
}

/** Renames a deployment's parameter names in a body to the contract's. */
export function withOurNames(body: unknown, wireNames: WireNames = {}): unknown {
  const theirs = wireNames.platformFormat;
  if (theirs === undefined || !isObject(body) || !Object.hasOwn(body, theirs)) return body;
  return { platformFormat: body[theirs], ...body };
}
