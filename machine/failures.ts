/** What an error says; what is thrown besides errors, as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const refusals: Readonly<Record<string, string>> = {
  EADDRINUSE: "is taken: name another with --port, or 0 for a free one",
  EACCES: "is not for this user: name one from 1024",
};

/** Why nothing listens at a port that a person named. */
export function listeningFailure(error: unknown, port: number): Error {
  const reason = refusals[(error as NodeJS.ErrnoException).code ?? ""];
  return new Error(reason === undefined ? messageOf(error) : `port ${port} ${reason}`);
}
