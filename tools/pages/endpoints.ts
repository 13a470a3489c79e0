import { schemaOf } from "../../emulator/http/openapi.ts";
import { type Endpoint, endpoints, methodsOf } from "../../platform/contract/endpoints.ts";
import { alternatives } from "../../platform/contract/values.ts";
import { errorCodes } from "../../platform/contract/wire.ts";
import { rowsOf } from "./jsonSchema.ts";
import { code, escapeCell, page, row, table } from "./markdown.ts";

const all: [string, Endpoint][] = Object.entries(endpoints);

const authentication = {
  none: "none",
  token: "`X-Auth-Token` and `X-User-Id`",
  "token+key": "`X-Auth-Token`, `X-User-Id` and `x-api-key`",
};
const effects = {
  read: "changes nothing",
  idempotent: "may be repeated with the same end",
  create: "makes something new each time",
};

/** The platform's interface, endpoint by endpoint. */
export function endpointsPage(): string {
  const contents = all.map(([name, { method, path, summary }]) =>
    row(`[${name}](#${name.toLowerCase()})`, code(`${method} ${path}`), summary),
  );
  return page(
    "platform/contract",
    "# Endpoints",
    "The platform's interface as client and emulator speak it. Requests are JSON; the typed client has a method of each name, and `microapps api <name> '<json>'` makes one call. [openapi.json](openapi.json) says the same for machines, [errors.md](errors.md) what the codes of failures mean.",
    table("| endpoint | request | what it does |", contents),
    all.flatMap(([name, endpoint]) => section(name, endpoint)),
  );
}

/** The page with advice about each code of a failed call, and the endpoints that fail with it. */
export function errorsPage(): string {
  const rows = Object.entries(errorCodes).map(([error, { status, hint }]) => {
    const failing = all.filter(([, { errors }]) => (errors as readonly string[]).includes(error)).map(([name]) => name);
    const which = failing.length > 8 ? "most" : failing.length > 0 ? failing.map(link).join(", ") : "any";
    return row(code(error), status === undefined ? "" : String(status), escapeCell(hint), which);
  });
  return page(
    "platform/contract/wire.ts",
    "# Error codes",
    "A call that failed ends with an `ApiError`, whose `code` is one of these; its message ends with what to do. The HTTP statuses are assumed; a code without one is the client's own. `outcome` says whether the call may have been carried out all the same: `none` or `unknown`.",
    table("| code | status | what to do | endpoints |", rows),
    "How commands end: [exit-statuses.md](exit-statuses.md).",
  );
}

const link = (name: string): string => `[${name}](endpoints.md#${name.toLowerCase()})`;

function section(name: string, endpoint: Endpoint): string[] {
  const { summary, path, auth, effect, request, answer, errors } = endpoint;
  const parameters = rowsOf(schemaOf(request, "input"));
  const parts = rowsOf(schemaOf(answer, "input"));
  return [
    `## ${name}`,
    summary,
    `\`${methodsOf(endpoint).join(" or ")} ${path}\`. Authentication: ${authentication[auth]}. It ${effects[effect]}.`,
    ...(parameters.length === 0 ? [] : [table("| parameter | type | required | |", parameters)]),
    ...needed(request),
    ...(parts.length === 0
      ? ["The answer says no more than that it was done."]
      : [table("| answer | type | always | |", parts)]),
    ...(errors.length === 0 ? [] : [`Fails with ${errors.map(code).join(", ")}.`]),
  ];
}

/** The parameters of which a request needs some. */
function needed(request: Endpoint["request"]): string[] {
  const choices = alternatives.get(request)?.map(({ shape }) => Object.keys(shape).map(code).join(" with "));
  return choices ? [`It needs ${choices.join(", or ")}.`] : [];
}
