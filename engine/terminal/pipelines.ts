/** True if a pipeline reads the output and may take one of its lines for a command. */
export const isPipeline = (environment: NodeJS.ProcessEnv): boolean =>
  environment["CI"] === "true" || !!environment["GITHUB_ACTIONS"] || !!environment["TF_BUILD"];

/**
 * Disarms what GitHub (`::`, `##[`), Azure (`##vso[`) or GitLab (`/`) would carry out as a command: after blanks too,
 * and those of Azure anywhere in a line.
 */
export const withoutCommands = (text: string): string =>
  text.replace(/^([^\S\n]*)(?=::|\/)/gm, "$1|").replace(/##(?=(vso)?\[)/gi, "#|#");

/** Writes text to a stream, in a pipeline without what that would take for commands. */
export const writeOn =
  (stream: NodeJS.WritableStream, environment: NodeJS.ProcessEnv) =>
  (text: string): void =>
    void stream.write(isPipeline(environment) ? withoutCommands(text) : text);
