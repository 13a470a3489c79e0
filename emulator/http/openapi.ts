import { z } from "zod";
import { type Endpoint, endpoints, methodsOf } from "../../platform/contract/endpoints.ts";
import { alternatives } from "../../platform/contract/values.ts";
import { errorCodes, type ErrorCode, isObject, type Json } from "../../platform/contract/wire.ts";

const security = {
  none: [],
  token: [{ token: [], userID: [] }],
  "token+key": [{ token: [], userID: [], key: [] }],
};

const header = (name: string, description: string) => ({ type: "apiKey", in: "header", name, description });

/** The interface as an OpenAPI 3.1 document, derived from the contract. */
export function openapi(url: string): Json {
  return {
    openapi: "3.1.0",
    info: {
      title: "Microapp platform",
      version: "1",
      description: "Data tables, notifications, app generation, organizations, teams and members.",
    },
    servers: [{ url }],
    components: {
      securitySchemes: {
        token: header("X-Auth-Token", "The authToken that login answered."),
        userID: header("X-User-Id", "The userId that login answered."),
        key: header("x-api-key", "The key that the operator gave."),
      },
      schemas: {
        Failure: {
          type: "object",
          description: "A failure in one of the forms that the platform uses.",
          properties: { status: { type: "string" }, message: { type: "string" }, error: { type: "string" } },
        },
      },
    },
    paths: Object.fromEntries(
      Object.entries(endpoints).map(([name, endpoint]) => [
        endpoint.path,
        Object.fromEntries(
          methodsOf(endpoint).map((method) => [method.toLowerCase(), operation(name, endpoint, method)]),
        ),
      ]),
    ),
  };
}

function operation(name: string, endpoint: Endpoint, method: Endpoint["method"]): Json {
  const request = schemaOf(endpoint.request, "input");
  const common: ErrorCode[] = endpoint.auth === "none" ? ["invalidRequest"] : ["invalidRequest", "unauthorized"];
  const codes = [...new Set([...common, ...endpoint.errors])].filter((code) => errorCodes[code].status !== undefined);
  const failures = codes.map((code) => [String(errorCodes[code].status), failure(code)]);
  return {
    operationId: method === endpoint.method ? name : `${name}By${method === "GET" ? "Get" : "Post"}`,
    summary: endpoint.summary,
    security: security[endpoint.auth],
    "x-effect": endpoint.effect,
    ...(method === "GET" ? { parameters: parametersIn(request) } : { requestBody: body(endpoint, request) }),
    responses: {
      "200": { description: "Done.", content: { "application/json": { schema: answerSchema(endpoint) } } },
      ...Object.fromEntries(failures),
    },
  };
}

const body = ({ request, accept }: Endpoint, schema: Json): Json => ({
  required: !request.safeParse(accept({ headers: {}, query: {}, body: undefined })).success,
  content: { "application/json": { schema: withNull(schema) } },
});

const failure = (code: ErrorCode): Json => ({
  description: errorCodes[code].hint,
  content: { "application/json": { schema: { $ref: "#/components/schemas/Failure" } } },
});

function parametersIn(schema: Json): Json[] {
  const required = requiredIn(schema);
  return Object.entries(propertiesOf(schema)).map(([name, schema]) => {
    return { name, in: "query", required: required.includes(name), schema };
  });
}

const propertiesOf = ({ properties }: Json): Json => (isObject(properties) ? properties : {});
const requiredIn = ({ required }: Json): unknown[] => (Array.isArray(required) ? (required as unknown[]) : []);

/** A body's schema in which null stands for each parameter that may be left out. */
function withNull(schema: Json): Json {
  const optional = Object.entries(propertiesOf(schema)).filter(([name]) => !requiredIn(schema).includes(name));
  const nullable = optional.map(([name, property]) => [name, orNull(isObject(property) ? property : {})]);
  return { ...schema, properties: { ...propertiesOf(schema), ...Object.fromEntries(nullable) } };
}

function orNull({ description, ...schema }: Json): Json {
  const words = description === undefined ? {} : { description };
  const { type, not } = schema;
  if (not !== undefined) return { ...words, type: "null" };
  if (Object.keys(schema).length === 0) return words; // anything
  if (typeof type === "string" && schema["enum"] === undefined) return { ...words, ...schema, type: [type, "null"] };
  const options = Array.isArray(schema["anyOf"]) ? (schema["anyOf"] as unknown[]) : [schema];
  return { ...words, anyOf: [...options, { type: "null" }] };
}

/** A zod schema as JSON Schema: the form that callers send, or the one that they get. */
export function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const made: Json = { ...z.toJSONSchema(schema, { io, unrepresentable: "any" }) };
  delete made["$schema"]; // the document as a whole names it
  const anyOf = alternatives.get(schema);
  return anyOf ? { ...made, anyOf: anyOf.map((alternative) => schemaOf(alternative, io)) } : made;
}

/** Stands for a value of the answer while the contract wraps it. */
class Placeholder {
  readonly schema: Json;
  constructor(schema: Json) {
    this.schema = schema;
  }
}

/** Schema of the answer in its envelope: the contract wraps placeholders, and each gives way to its value's schema. */
function answerSchema(endpoint: Endpoint): Json {
  const answer = schemaOf(endpoint.answer, "input");
  const properties = isObject(answer["properties"]) ? answer["properties"] : {};
  const placed = Object.entries(properties).map(([name, schema]) => [
    name,
    new Placeholder(isObject(schema) ? schema : {}),
  ]);
  return enveloped(endpoint.wrap(Object.fromEntries(placed)));
}

function enveloped(wrapped: unknown): Json {
  if (wrapped instanceof Placeholder) return wrapped.schema;
  if (!isObject(wrapped)) return { const: wrapped };
  const properties = Object.fromEntries(Object.entries(wrapped).map(([name, value]) => [name, enveloped(value)]));
  return { type: "object", properties };
}
