import type { Endpoints, EndpointName, GivenAnswerOf, ParsedRequestOf } from "../../provider/contract/endpoints.ts";
import type { CallContext } from "../data/callContext.ts";

/** Carries an endpoint out, inside a transaction: whatever it throws, nothing is changed. */
export type Handler<Name extends EndpointName> = (
  request: ParsedRequestOf<Name>,
  call: CallContext,
) => GivenAnswerOf<Name>;

export type Handlers = { [Name in keyof Endpoints]: Handler<Name> };
