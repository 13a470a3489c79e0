import type { Tracer } from "../../../machine/tracer.ts";
import { openTracer } from "../../../machine/traces.ts";
import type { CallRecord } from "../../client/http/call.ts";
import { isObject } from "../../contract/wire.ts";
import { Mask } from "../../messages/masks.ts";
import { above, followEngine } from "./inbound.ts";

/** Subject of an engine's call: a resource, or a function. */
interface Asked {
  resource: { name: string };
  urn: string | undefined;
  secrets?: readonly string[];
}

/** Types whose logical names are often those of people. */
const ofPeople: ReadonlySet<string> = new Set(["TeamMember", "TeamRoster", "Notification"]);

/**
 * The spans of this process: one for each operation, under the engine's, and one for each request below it. They hold
 * numbers and words of ours, and the logical names of what is no person: no text of a call, a failure or a row.
 */
export class Spans {
  readonly #tracer: Promise<Tracer | undefined>;
  readonly #root: string | undefined;
  #ready: Tracer | undefined;

  constructor(tracer: Promise<Tracer | undefined>, root: string | undefined) {
    this.#tracer = tracer.then((tracer) => (this.#ready = tracer));
    this.#root = root;
  }

  async within<Answer>(operation: string, asked: Asked, work: () => Promise<Answer>): Promise<Answer> {
    const parent = above.getStore() ?? this.#root;
    const tracer = this.#ready ?? (await this.#tracer);
    if (!tracer) return work();
    const { name } = asked.resource;
    const span = tracer.start(`${operation} ${name}`, "server", parent);
    const facts = { "microapps.operation": operation, "microapps.type": name, "microapps.name": shownName(asked) };
    try {
      const answer = await above.run(span.parent, work);
      const isRefused = isObject(answer) && Array.isArray(answer["problems"]) && answer["problems"].length > 0;
      span.end({ ...facts, "microapps.outcome": isRefused ? "refused" : "done" });
      return answer;
    } catch (error) {
      const isPartial = error instanceof Error && "partial" in error && error.partial !== undefined;
      const outcome = isPartial ? "partial" : "failed";
      span.end({ ...facts, "microapps.outcome": outcome }, outcome);
      throw error;
    }
  }

  /** A property, so that it can be passed on its own. */
  readonly onCall = ({
    endpoint,
    attempt,
    status,
    code,
    milliseconds,
    waited,
    sent,
    received,
    outcome,
  }: CallRecord) => {
    const now = Date.now();
    const span = this.#ready?.start(endpoint, "client", above.getStore() ?? this.#root, now - milliseconds - waited);
    const facts = {
      "microapps.endpoint": endpoint,
      "microapps.attempt": attempt,
      "microapps.wait_ms": Math.round(waited),
      "microapps.batch": sent,
      "microapps.rows": received,
      "microapps.outcome": code === undefined ? "done" : outcome,
      "http.response.status_code": status,
    };
    span?.end(facts, code);
  };

  async flush(): Promise<void> {
    await (await this.#tracer)?.flush();
  }
}

function shownName({ resource: { name }, urn, secrets = [] }: Asked): string | undefined {
  const logical = urn?.split("::").slice(3).join("::");
  if (logical === undefined || ofPeople.has(name) || logical.includes("@")) return undefined;
  const isSecret = secrets.some((secret) => logical.includes(secret)) || new Mask(secrets).hide(logical) !== logical;
  return isSecret ? undefined : logical;
}

/** The spans of this process, if its environment names a collector; else undefined. */
export function spansOf(environment: NodeJS.ProcessEnv): Spans | undefined {
  const tracer = openTracer("pulumi-resource-microapps", environment);
  if (!tracer) return undefined;
  followEngine();
  return new Spans(tracer, environment["TRACEPARENT"]);
}
