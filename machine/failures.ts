/** What an error says; what is thrown besides errors, as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
