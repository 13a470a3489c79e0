import path from "node:path";
import { openStack, type GlobalOptions } from "../../../engine/cli/globals.ts";
import { EngineError, projectFolder, type Stack, type Terminal } from "../../../engine/index.ts";
import type { Mask } from "../../../provider/messages/masks.ts";
import { clearSecrets } from "../../../provider/pulumi/configuration/clear.ts";
import {
  configuration,
  configure,
  secretKeys,
  type Configuration,
} from "../../../provider/pulumi/configuration/configuration.ts";
import { ConfigurationError } from "../../../provider/pulumi/configuration/configurationError.ts";
import { readVariable } from "../../../provider/pulumi/configuration/keys.ts";
import { accountKeys, originOf } from "../../../provider/pulumi/configuration/origins.ts";
import { maskOf } from "../../../provider/pulumi/secrets.ts";
import { isOfVariables, readOwnSettings, stackSettings } from "../settings.ts";
import { readDeclared, nothingDeclared, type ProgramResources, type ProgramTable } from "./declared.ts";
import { noteFinding, well, wrong, type Finding } from "./findings.ts";
import { command, setting, unsetting, type SettingsPlace } from "./mending.ts";

/** Subject of the checks: the settings and their places, and the resources of the program. */
export interface Subject {
  place: SettingsPlace;
  /** The folder that relative addresses of emulators count from. */
  folder: string;
  stack: Stack | undefined;
  settings: Configuration | undefined;
  /** Result of reading the settings. */
  finding: Finding;
  declared: ProgramResources;
  mask: Mask;
}

export type SubjectOptions = GlobalOptions & { tables?: readonly ProgramTable[] };

/** Finds out what is to be looked at. Nothing is sent. */
export async function subjectOf(options: SubjectOptions, terminal: Terminal): Promise<Subject> {
  const { environment } = terminal;
  const cwd = path.resolve(options.cwd ?? ".");
  const place = { stack: undefined, cwd: options.cwd, environment };
  const folder = projectIn(cwd);
  const isAlone = isOfVariables(options.stack, environment) || folder === undefined;
  if (isAlone) {
    const found = configured(() => configure({}, environment), {}, place, folder !== undefined);
    return { place, folder: folder ?? cwd, stack: undefined, ...found, declared: withTables(nothingDeclared, options) };
  }
  try {
    return await ofStack(await openStack(options, terminal), options, environment);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return {
      ...{ place, folder, stack: undefined, settings: undefined, declared: nothingDeclared },
      finding: wrong(sentence(error.message), undefined, stackMend(error.message, options, place)),
      mask: maskOf(undefined, secretVariables(environment)),
    };
  }
}

async function ofStack(stack: Stack, options: SubjectOptions, environment: NodeJS.ProcessEnv): Promise<Subject> {
  const place = { stack: stack.name, cwd: options.cwd, environment };
  const own = readOwnSettings(stack);
  const texts = Object.fromEntries(Object.entries(own).map(([key, { text }]) => [key, text]));
  const found = configured(() => stackSettings(stack, environment), texts, place, true);
  const declared = withTables(await readDeclared(stack), options);
  const base = { place, folder: stack.project.workdir, stack, declared, ...found };
  const [clear] = clearSecrets(texts, (key) => own[key]?.secret ?? false);
  if (found.finding.is !== "well" || clear === undefined) return base;
  const finding = noteFinding(
    `microapps:${clear} stands in clear in the configuration of the stack.`,
    "Whoever reads the file, or its history in Git, has it.",
    [command(place, `config set --secret microapps:${clear}`)],
  );
  return { ...base, finding };
}

const withTables = (declared: ProgramResources, { tables = [] }: SubjectOptions): ProgramResources => {
  const named = new Set(tables.map(({ table }) => table));
  const parentOf = (table: string) => declared.tables.find((one) => one.table === table)?.parent;
  const own = tables.map((one) => ({ ...one, parent: parentOf(one.table) }));
  return { ...declared, tables: [...own, ...declared.tables.filter(({ table }) => !named.has(table))] };
};

function projectIn(cwd: string): string | undefined {
  try {
    return projectFolder(cwd);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return undefined;
  }
}

const secretVariables = (environment: NodeJS.ProcessEnv): string[] =>
  [...secretKeys.map((key) => readVariable(environment, key)), environment["PULUMI_CONFIG_PASSPHRASE"]].flatMap(
    (value) => value ?? [],
  );

type Configured = Pick<Subject, "settings" | "finding" | "mask">;

/** Reads settings and describes their problems. */
function configured(
  read: () => Configuration,
  own: Readonly<Record<string, string>>,
  place: SettingsPlace,
  hasProject: boolean,
): Configured {
  const mask = maskOf(own, secretVariables(place.environment));
  try {
    const settings = read();
    const whose = place.stack === undefined ? "What is set" : `Stack ${place.stack}`;
    return {
      settings,
      finding: well(`${whose} is for ${describePlatform(settings)}, ${whoOf(settings)}.`),
      mask,
    };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const has = (key: string): boolean => Boolean(own[key] || readVariable(place.environment, key));
    const finding =
      !has("endpoint") && place.stack === undefined && !hasProject
        ? wrong(
            "There is no project in this folder or above it, and no variable says which platform is meant.",
            "'microapps init' writes a project; without one, variables say it.",
            ["endpoint", "email", "password"].map((key) => setting(place, key)),
          )
        : wrong(sentence(error.message), undefined, mendOf(own, place, error.message));
    return { settings: undefined, finding, mask };
  }
}

/** Commands that mend wrong settings: first the missing ones, then those that nobody reads. */
function mendOf(own: Readonly<Record<string, string>>, place: SettingsPlace, message: string): string[] {
  const valueOf = (key: string): string => own[key] || readVariable(place.environment, key) || "";
  const has = (key: string): boolean => valueOf(key) !== "";
  const known = configuration.keyof().options as readonly string[];
  const strange = Object.keys(own).filter((key) => !known.includes(key) && key !== "userId");
  if (strange.length > 0) return strange.map((key) => unsetting(place, key));
  if (!has("endpoint")) return [setting(place, "endpoint")];
  if (has("token") && !has("userID")) return [setting(place, "userID")];
  if (!has("token")) {
    const missing = ["email", "password"].filter((key) => !has(key));
    if (missing.length > 0) return missing.map((key) => setting(place, key));
  }
  const profile = path.basename(valueOf("profile"));
  // The message of a readable file names the place to correct.
  if (profile !== "" && message.includes(profile)) {
    return message.includes("can't be read") ? [setting(place, "profile")] : [];
  }
  const endpoint = valueOf("endpoint");
  if (originOf(endpoint) === undefined || endpoint.startsWith("http://")) return [setting(place, "endpoint")];
  return accountKeys.filter((key) => own[key] !== undefined && own[key].length < 4).map((key) => setting(place, key));
}

function stackMend(message: string, { stack }: SubjectOptions, place: SettingsPlace): string[] {
  if (message.includes("assphrase")) return ["export PULUMI_CONFIG_PASSPHRASE=…"];
  const near = /did you mean '([^']+)'/.exec(message)?.[1];
  if (near !== undefined) return [command({ ...place, stack: near }, "doctor")];
  return /stack init/.test(message) ? [command(place, `stack init ${stack ?? "dev"}`)] : [];
}

/** The platform in a sentence: of an address its origin alone, the rest may be a secret in the wrong place. */
export const describePlatform = ({ endpoint }: Configuration): string => {
  const origin = originOf(endpoint);
  return origin === "emulator:" ? "the emulator" : (origin ?? "no address");
};

export const whoOf = ({ token, userID, email }: Configuration): string =>
  token === undefined ? `as ${email ?? "nobody"}` : `with a token of user ${userID ?? "nobody"}`;

/** A message as a sentence. */
export function sentence(message: string): string {
  const text = message.startsWith("microapps:") ? message : message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
