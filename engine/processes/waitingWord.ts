/** The only argument of a process that gets its arguments over its life line. */
export const waitingWord = "--wait-for-arguments";
