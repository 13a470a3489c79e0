import { Refusal } from "../errors.ts";

/** Variables that change how the Pulumi CLI keeps states, by their older names too. */
const variables = {
  layout: ["PULUMI_DIY_BACKEND_LEGACY_LAYOUT", "PULUMI_SELF_MANAGED_STATE_LEGACY_LAYOUT"],
  gzip: ["PULUMI_DIY_BACKEND_GZIP", "PULUMI_SELF_MANAGED_STATE_GZIP"],
  zstd: ["PULUMI_DIY_BACKEND_ZSTD", "PULUMI_SELF_MANAGED_STATE_ZSTD"],
  copies: ["PULUMI_DIY_BACKEND_RETAIN_CHECKPOINTS", "PULUMI_RETAIN_CHECKPOINTS"],
} as const;

const isSet = (environment: NodeJS.ProcessEnv, variable: string): boolean =>
  ["1", "true"].includes(environment[variable]?.toLowerCase() ?? "");

function refuse(environment: NodeJS.ProcessEnv, kind: keyof typeof variables, what: string): void {
  const variable = variables[kind].find((name) => isSet(environment, name));
  if (variable === undefined) return;
  throw new Refusal(`${variable}: the embedded engine does not do this (${what}): unset it, or use the Pulumi CLI`);
}

/** Throws where a variable asks for states in a form that this engine does not write. */
export function refuseStateForms(environment: NodeJS.ProcessEnv): void {
  refuse(environment, "gzip", "compressed states");
  refuse(environment, "zstd", "compressed states");
  refuse(environment, "copies", "a copy of each state that was");
}

/** Throws where a variable asks for the old layout, which the CLI looks at in a new backend alone. */
export const refuseOldLayout = (environment: NodeJS.ProcessEnv): void =>
  refuse(environment, "layout", "the old layout without projects");
