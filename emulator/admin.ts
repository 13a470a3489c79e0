import type { EndpointName } from "../provider/contract/endpoints.ts";
import { endpoints } from "../provider/contract/endpoints.ts";
import { loggedCalls, type CallFilter } from "./callLog.ts";
import { invalid, PlatformError } from "./failure.ts";
import type { Outgoing, Platform } from "./platform.ts";
import { reset } from "./reset.ts";
import type { Arrived } from "./server.ts";

/** Where the emulator itself, not the platform, is spoken to. */
export const adminPath = "/_emulator/";

type Action = (platform: Platform, request: Arrived) => unknown;

const actions: Record<string, Action> = {
  "GET calls": (platform, { query }) => ({ calls: loggedCalls(platform.database, filterIn(query)) }),
  "POST reset": (platform, { query }) => {
    const to = query.get("to") ?? "seed";
    if (to !== "seed" && to !== "empty") throw invalid("to must be seed or empty");
    reset(platform, to);
    return { status: "success" };
  },
};

/** Answers requests about the emulator, from this machine only. */
export function administrate(platform: Platform, request: Arrived, path: string): Outgoing {
  try {
    const host = (request.headers["host"] ?? "").replace(/:\d+$/, "");
    // A page in a browser may reach this address under another name, or post to it: neither is answered.
    const ours = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);
    const origin = request.headers["origin"];
    if (!request.local || !ours || (origin !== undefined && origin !== `http://${request.headers["host"] ?? ""}`)) {
      throw new PlatformError("forbidden", "The emulator is administrated from its own machine only");
    }
    const action = `${request.method} ${path}`;
    const carryOut = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (!carryOut) throw new PlatformError("notFound", `The emulator has no ${action}`);
    return { status: 200, body: carryOut(platform, request), headers: {} };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return { status: error.status, body: { status: "failure", message: error.message }, headers: {} };
  }
}

function filterIn(query: URLSearchParams): CallFilter {
  const since = Number(query.get("since") ?? 0);
  if (!Number.isInteger(since)) throw invalid("since must be a sequence number");
  const mutating = query.get("mutating");
  const endpoint = query.get("endpoint");
  if (endpoint !== null && !Object.hasOwn(endpoints, endpoint)) throw invalid(`there is no endpoint ${endpoint}`);
  return {
    since,
    ...(mutating === null ? {} : { mutating: mutating === "true" }),
    ...(endpoint === null ? {} : { endpoint: endpoint as EndpointName }), // a key of the contract's table
  };
}
