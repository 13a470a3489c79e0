import type { EndpointName } from "../../platform/contract/endpoints.ts";
import type { CallContext, Handlers } from "../data/callContext.ts";
import * as apps from "./apps.ts";
import * as authentication from "./authentication.ts";
import * as children from "./children.ts";
import { prepareUpload } from "./children.ts";
import * as members from "./members.ts";
import * as notifications from "./notifications.ts";
import * as organizations from "./organizations.ts";
import * as rowReads from "./rowReads.ts";
import * as rowWrites from "./rowWrites.ts";

/** The handler of each endpoint, by its name. A missing one does not compile. */
const handlers: Handlers = {
  ...authentication,
  ...rowReads,
  ...rowWrites,
  ...children,
  ...notifications,
  ...apps,
  ...organizations,
  ...members,
};

// A handler by a name known at run time only: the contract has validated the request, and its type checks the answer.
export const handlerOf = (name: EndpointName) => handlers[name] as (request: unknown, call: CallContext) => unknown;

/** Slow work that is done before the transaction begins; its result is the call's `fetched`. */
export const preparations: Partial<Record<EndpointName, (request: never, call: CallContext) => Promise<unknown>>> = {
  microappchildUploadFileToStore: prepareUpload,
};
