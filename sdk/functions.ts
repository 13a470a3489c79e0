import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import { messageOf } from "../machine/failures.ts";
import * as functions from "../provider/functions/functions.ts";
import type { PlatformFunction } from "../provider/functions/functions.ts";
import { configure } from "../provider/pulumi/configuration.ts";
import { typeThrough } from "../provider/pulumi/names.ts";
import { Operations, sentenceOf } from "../provider/pulumi/operations.ts";
import { reporterTo } from "../provider/pulumi/progress.ts";
import { secretTexts } from "../provider/pulumi/properties.ts";
import type * as types from "./args.ts";
import { program } from "./program.ts";
import { Provider } from "./provider.ts";
import { isLater, secretNames } from "./secrecy.ts";
import { checkStackSettings, stackSettings } from "./stackSettings.ts";

/** Which platform is asked: that of `provider`, else of the provider of `parent`, else of the stack's configuration. */
export type FunctionOptions = Pick<pulumi.InvokeOptions, "provider" | "parent">;

/** As FunctionOptions; `dependsOn` names resources that must exist before the platform is asked. */
export type FunctionOutputOptions = FunctionOptions & Pick<pulumi.InvokeOutputOptions, "dependsOn">;

/** Asks at once. Rejects with a `RunError` of one sentence when there is no answer. */
type Ask<Args, Result> = (args: Args, options?: FunctionOptions) => Promise<Result>;

/** Asks once all inputs are known; the answer is a secret when one of them is. */
type AskLater<Args, Result> = (args: Args, options?: FunctionOutputOptions) => pulumi.Output<Result>;

/** Finds the user ID of an e-mail address, on platforms that reveal it. */
export const getUserID: Ask<types.GetUserIDArgs, types.GetUserIDResult> = askNow(functions.getUserID);
/** `getUserID` with outputs as arguments and as the result. */
export const getUserIDOutput: AskLater<types.GetUserIDOutputArgs, types.GetUserIDResult> = askLater(
  functions.getUserID,
);

/** Reads an organization by its ID; fails when there is none. */
export const getOrganization: Ask<types.GetOrganizationArgs, types.GetOrganizationResult> = askNow(
  functions.getOrganization,
);
/** `getOrganization` with outputs as arguments and as the result. */
export const getOrganizationOutput: AskLater<types.GetOrganizationOutputArgs, types.GetOrganizationResult> = askLater(
  functions.getOrganization,
);

/** Reads a team by its ID; fails when there is none. */
export const getTeam: Ask<types.GetTeamArgs, types.GetTeamResult> = askNow(functions.getTeam);
/** `getTeam` with outputs as arguments and as the result. */
export const getTeamOutput: AskLater<types.GetTeamOutputArgs, types.GetTeamResult> = askLater(functions.getTeam);

/** Lists the members of a team, sorted by address, then by ID. */
export const getTeamMembers: Ask<types.GetTeamMembersArgs, types.GetTeamMembersResult> = askNow(
  functions.getTeamMembers,
);
/** `getTeamMembers` with outputs as arguments and as the result. */
export const getTeamMembersOutput: AskLater<types.GetTeamMembersOutputArgs, types.GetTeamMembersResult> = askLater(
  functions.getTeamMembers,
);

/** Finds rows of a data table by the values of their labels. */
export const getRows: Ask<types.GetRowsArgs, types.GetRowsResult> = askNow(functions.getRows);
/** `getRows` with outputs as arguments and as the result. */
export const getRowsOutput: AskLater<types.GetRowsOutputArgs, types.GetRowsResult> = askLater(functions.getRows);

/** Finds one row of a data table by its ID or by its natural key. */
export const getRow: Ask<types.GetRowArgs, types.GetRowResult> = askNow(functions.getRow);
/** `getRow` with outputs as arguments and as the result. */
export const getRowOutput: AskLater<types.GetRowOutputArgs, types.GetRowResult> = askLater(functions.getRow);

/** Reads the status of an app's generation. */
export const getAppStatus: Ask<types.GetAppStatusArgs, types.GetAppStatusResult> = askNow(functions.getAppStatus);
/** `getAppStatus` with outputs as arguments and as the result. */
export const getAppStatusOutput: AskLater<types.GetAppStatusOutputArgs, types.GetAppStatusResult> = askLater(
  functions.getAppStatus,
);

function askNow<Inputs extends z.ZodObject, Outputs extends z.ZodObject>(
  definition: PlatformFunction<Inputs, Outputs>,
): Ask<z.input<Inputs>, z.output<Outputs>> {
  return async (args, options = {}) => {
    const [later] = Object.entries(args).find(([, value]) => isLater(value)) ?? [];
    if (later !== undefined) {
      const reason = `${later} is an output, which has no value yet: use ${definition.name}Output`;
      throw new pulumi.RunError(`${definition.name}: ${reason}`);
    }
    const settings = settingsOf(options);
    if (!settings) return ask(definition, args, undefined);
    return new Promise((resolve, reject) => {
      const known = pulumi.unsecret(settings).apply((values) => {
        ask(definition, args, values).then(resolve, reject);
      });
      // An unknown output never calls `apply`; its property `isKnown`, which the type hides, shows that it is one.
      void (known as unknown as { isKnown: Promise<boolean> }).isKnown.then((isKnown) => {
        if (isKnown) return;
        const reason = `the provider's settings are known only once other resources exist: use ${definition.name}Output`;
        reject(new pulumi.RunError(`${definition.name}: ${reason}`));
      });
    });
  };
}

function askLater<Inputs extends z.ZodObject, Outputs extends z.ZodObject>(
  definition: PlatformFunction<Inputs, Outputs>,
): AskLater<object, z.output<Outputs>> {
  return (args, options = {}) => {
    const settings = settingsOf(options);
    const inputs = pulumi.output(args as Record<string, unknown>); // its outputs resolve to this type
    const there = pulumi.output(options.dependsOn).apply((resources) => [resources].flat().map(marks));
    // A password among the settings does not make the answer a secret.
    return (
      pulumi
        .all([inputs, settings && pulumi.unsecret(settings), secretNames(args), there])
        // The function checks them against its own schema.
        .apply(([values, known, secrets]) => ask(definition, values as z.input<Inputs>, known, secrets))
    );
  };
}

/** Outputs that are known only once a resource exists: the ID of a custom resource, all outputs of a component. */
const marks = (resource: pulumi.Resource | undefined): unknown[] =>
  pulumi.CustomResource.isInstance(resource)
    ? [resource.id]
    : Object.values(resource ?? {}).filter((value) => pulumi.Output.isInstance(value));

function settingsOf({ provider, parent }: FunctionOptions): pulumi.Output<string> | undefined {
  const chosen = provider ?? parent?.getProvider(typeThrough(program().providerKind, "Function"));
  if (!chosen) return undefined;
  if (chosen instanceof Provider) return chosen.settings;
  throw new pulumi.RunError("the option provider of a function must be a Provider of pulumi-microapps");
}

// One connection for each configuration. None keeps the program from ending.
const connections = new Map<string | undefined, Operations>();

/** @param settings of a provider, as JSON; undefined for the configuration of the stack */
function operationsWith(settings: string | undefined): Operations {
  const known = connections.get(settings);
  if (known) return known;
  const own = settings === undefined ? undefined : (JSON.parse(settings) as Record<string, unknown>); // as Provider made it
  const operations = new Operations({
    configuration: () => configure(own ?? stackSettings(), process.env, own !== undefined),
    directory: process.cwd(),
    report: reporterTo(undefined),
    signal: new AbortController().signal, // an interrupted program just ends
  });
  connections.set(settings, operations);
  return operations;
}

async function ask<Inputs extends z.ZodObject, Outputs extends z.ZodObject>(
  definition: PlatformFunction<Inputs, Outputs>,
  args: z.input<Inputs>,
  settings: string | undefined,
  secrets: readonly string[] = [],
): Promise<z.output<Outputs>> {
  const { name } = definition;
  checkStackSettings();
  try {
    // Operations check the inputs with the function's own schema, and return its outputs.
    const result = await operationsWith(settings).invoke(definition, args, secretTexts(args, secrets));
    if ("outputs" in result) return result.outputs as z.output<Outputs>;
    throw new Error(result.problems.map(sentenceOf).join("; "));
  } catch (error) {
    // The runner prints the message of a RunError alone.
    throw new pulumi.RunError(`${name}: ${messageOf(error)}`);
  }
}
