/** Milliseconds for work to end by itself after its time-out, and to report what it has done. */
const graceMs = 1_000;

/**
 * The answer of work, or an error once its time is up: calls that serve several resources at once, such as those about
 * members, do not end with the time of one.
 */
export async function unlessLate<Answer>(work: Promise<Answer>, time: AbortSignal): Promise<Answer> {
  const late = Promise.withResolvers<never>();
  const expire = (): void =>
    void setTimeout(() => late.reject(new Error("the platform has not answered. Run it again to go on.")), graceMs);
  time.addEventListener("abort", expire, { once: true });
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    time.removeEventListener("abort", expire);
  }
}
