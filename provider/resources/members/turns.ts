import { isRunning } from "../../../machine/processes.ts";
import type { MemberContext, MembershipChange } from "./teamClaims.ts";

/** Milliseconds between two looks at what the other providers of the run are doing. */
const pollMs = 50;

/** Puts somebody into a team, or finds them there, while nobody is taken out of their teams. */
export const joining = <Answer>(
  context: MemberContext,
  urn: string | undefined,
  work: () => Promise<Answer>,
): Promise<Answer> => context.claims.joining(() => inTurn(context, urn, "joining", work), context.signal);

/** Takes a user out of teams by what is known then. */
export const leaveInTurn = <Answer>(
  context: MemberContext,
  urn: string | undefined,
  work: () => Promise<Answer>,
): Promise<Answer> => context.claims.leaving(() => inTurn(context, urn, "leaving", work), context.signal);

/**
 * Works while no other provider of the run does the opposite. Each notes what it begins and then looks at the others, so
 * that of two at least one knows of both; who joins gives way.
 */
async function inTurn<Answer>(
  { claims, others, sleep }: MemberContext,
  urn: string | undefined,
  what: MembershipChange,
  work: () => Promise<Answer>,
): Promise<Answer> {
  if (urn === undefined) return work();
  const opposite = what === "joining" ? "leaving" : "joining";
  const isHindered = (): boolean => claims.atWork(opposite).some(isRunning);
  try {
    for (;;) {
      claims.began(urn, what, process.pid);
      await others();
      if (!isHindered()) break;
      if (what === "joining") claims.ended(urn);
      while (isHindered()) {
        await sleep(pollMs);
        await others();
      }
      if (what === "leaving") break;
    }
    return await work();
  } finally {
    claims.ended(urn);
  }
}
