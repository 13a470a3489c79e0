/** Whether a pipeline reads what is printed, and may take a line of it for a command. */
export const isPipeline = (environment: NodeJS.ProcessEnv): boolean =>
  environment["CI"] === "true" || !!environment["GITHUB_ACTIONS"] || !!environment["TF_BUILD"];

/**
 * The text with nothing in it that GitHub (`::`, `##[`), Azure (`##vso[`) or GitLab (`/`) would carry out. A command
 * after blanks, and those of Azure anywhere in a line, count too.
 */
export const withoutCommands = (text: string): string =>
  text.replace(/^([^\S\n]*)(?=::|\/)/gm, "$1|").replace(/##(?=(vso)?\[)/gi, "#|#");
