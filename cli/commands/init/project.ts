import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { Document } from "yaml";
import {
  ask,
  EngineError,
  isInteractive,
  makeStack,
  oneLine,
  passphraseFrom,
  readTyped,
  refuseTakenStack,
  type Terminal,
  pulumiVersion,
} from "../../../engine/index.ts";
import { messageOf } from "../../../machine/failures.ts";
import { quote } from "../../../platform/messages/text.ts";
import { modeline, packageSchema } from "../../tableSchema/outputs.ts";
import { writePipelines } from "../ci/pipelines.ts";
import { writeEditorSchema } from "../environment/editorSchema.ts";
import { filesFrom } from "../templates.ts";

/** What a project may be declared in: files alone, or a program. */
const languages = ["yaml", "typescript", "javascript", "python", "go"] as const;
type Language = (typeof languages)[number];

/** Where the states of a new project are kept, unless a variable names another place. */
const backendUrl = "file://.";

/** An environment of a new project. */
interface NewEnvironment {
  name: string;
  /** Address of its platform; undefined: an emulator of its own. */
  endpoint: string | undefined;
  email: string | undefined;
}

/** Name of the schema by which editors complete the environments: written where tables are known, which an emulated platform declares. */
const editorSchema = "environment.schema.json";

/** The file that describes the emulated platform. */
const platformFile = "platform.yaml";

/** What a dump is imported by. */
const importFile = "import.json";

/** Flags of the command. */
export interface InitOptions {
  cwd?: string;
  nonInteractive?: boolean;
  stack?: string;
  language?: Language;
  endpoint: string[];
  email?: string;
  environments?: string;
  ci?: "github" | "gitlab" | "none";
  name?: string;
  from?: string;
  yes?: boolean;
}

/** Everything that is decided, by flags or answers. */
interface Decided {
  folder: string;
  name: string;
  language: Language;
  environments: NewEnvironment[];
  ci: "github" | "gitlab" | "none";
  from: string | undefined;
  /** The environment whose stack is made as well. */
  stack: string | undefined;
}

/** Writes a project into a folder, where nothing is overwritten, and prints the next two commands. */
export async function initProject(options: InitOptions, terminal: Terminal): Promise<void> {
  const decided = await decide(options, terminal);
  const { folder, name, language, environments, ci, from } = decided;
  const files = {
    ...filesFrom(`init/templates/${language}`, { name, backend: backendUrl }, "init/templates/parts"),
    ...environmentFiles(environments, from && dumpedIn(from), environments.length > 1 || ci !== "none"),
  };
  const described = Object.values(files).some(hasPlatform) ? `${environments[0]?.name ?? ""}.yaml` : undefined;
  const written = [...Object.keys(files), ...(described !== undefined ? [editorSchema] : [])];
  const there = written.filter((file) => existsSync(path.join(folder, file)));
  if (there.length > 0) {
    throw new EngineError(`${there.join(", ")}: it is there already, and nothing was written: choose an empty folder`);
  }
  const manifest = packageText(folder, name, language);
  if (decided.stack !== undefined) {
    const project = { name, file: path.join(folder, "Pulumi.yaml"), backendUrl };
    await refuseTakenStack(project, decided.stack, { cwd: folder, environment: terminal.environment });
  }
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text, { flag: "wx" });
  if (from !== undefined) copyData(from, folder);
  if (from !== undefined && language === "yaml") copyImport(from, folder);
  if (described !== undefined) writeEditorSchema(described, folder, editorSchema);
  for (const [file, text] of [[".gitignore", extendGitignore(textAt(folder, ".gitignore"))], manifest]) {
    if (file === undefined || text === undefined || text === textAt(folder, file)) continue;
    writeFileSync(path.join(folder, file), text);
    written.push(file);
  }
  terminal.output.write(`Wrote ${written.join(", ")}.\n`);
  if (ci !== "none") {
    const engine = isEmbedded(language) ? "embedded" : "pulumi";
    const flags = { cwd: folder, engine, branch: "main", cliVersion: pulumiVersion, output: folder } as const;
    terminal.output.write(writePipelines(ci, flags));
  }
  if (decided.stack !== undefined) await makeStack(terminal, decided.stack, { ...options, cwd: folder });
  const { PULUMI_CONFIG_PASSPHRASE: passphrase, PULUMI_CONFIG_PASSPHRASE_FILE: inFile } = terminal.environment;
  const lacksPassphrase =
    (passphrase ?? inFile) === undefined && !isInteractive(terminal, options.nonInteractive ?? false);
  terminal.output.write(nextSteps(decided, lacksPassphrase));
}

/** True where `npx microapps` brings it up. */
const isEmbedded = (language: Language): boolean => language === "yaml" || isNode(language);

const isNode = (language: Language): boolean => language === "typescript" || language === "javascript";

const textAt = (folder: string, file: string): string =>
  existsSync(path.join(folder, file)) ? readFileSync(path.join(folder, file), "utf8") : "";

async function decide(options: InitOptions, terminal: Terminal): Promise<Decided> {
  const folder = path.resolve(options.cwd ?? ".");
  const asks = !options.yes && isInteractive(terminal, options.nonInteractive ?? false);
  const choose = async <Answer extends string>(
    known: Answer | undefined,
    question: string,
    answers: readonly [Answer, ...Answer[]],
  ): Promise<Answer> => {
    if (known !== undefined || !asks) return known ?? answers[0];
    return (await ask(terminal, question, answers, answers[0])) as Answer; // one of them
  };
  const language = await choose(options.language, "Files only (yaml), or a program when you need one?", languages);
  const typed = async (question: string): Promise<string> => (await readTyped(terminal, question, false)).trim();
  const listed = options.environments ?? (asks ? await typed("Environments, by commas (dev): ") : "");
  const names = namesIn(listed === "" ? "dev" : listed);
  const addresses = addressesIn(options.endpoint);
  for (const name of asks && options.endpoint.length === 0 ? names : []) {
    const address = await typed(`Address of the platform of ${name} (https://…; nothing for an emulator): `);
    if (address !== "") addresses.set(name, asAddress(address, address));
  }
  const stray = [...addresses.keys()].find((each) => each !== "" && !names.includes(each));
  if (stray !== undefined) throw new EngineError(`--endpoint ${stray}=…: the environments are ${names.join(", ")}`);
  const { email, from } = options;
  const environments = names.map((name) => ({ name, endpoint: addresses.get(name) ?? addresses.get(""), email }));
  const without = environments.find(({ endpoint }) => endpoint === undefined);
  // A pipeline reaches no emulator.
  const usual = without ? "none" : undefined;
  const ci = await choose(options.ci ?? usual, "Pipelines?", ["none", "github", "gitlab"]);
  const dumped = from === undefined ? undefined : dumpedIn(path.resolve(folder, from));
  if (dumped !== undefined && !hasPlatform(dumped) && without) {
    throw new EngineError(`--from takes over what is on a platform: name that of ${without.name} with --endpoint`);
  }
  if (ci !== "none" && without) {
    throw new EngineError(
      `--ci: a pipeline needs an address for each environment, and an emulator has none: name that of ${without.name} with --endpoint`,
    );
  }
  const { stack } = options;
  if (stack !== undefined && !names.includes(stack))
    throw new EngineError(`--stack ${oneLine(stack)}: the environments are ${names.join(", ")}`);
  // Without a passphrase there would be files and no stack.
  if (stack !== undefined && !isInteractive(terminal, options.nonInteractive ?? false))
    passphraseFrom(terminal.environment);
  return {
    folder,
    stack,
    name: options.name === undefined ? nameOf(path.basename(folder)) : nameGiven(options.name),
    language,
    environments,
    ci,
    from: from === undefined ? undefined : path.resolve(folder, from),
  };
}

/** Addresses by environment; the empty name is for all others. */
function addressesIn(flags: readonly string[]): Map<string, string> {
  return new Map(
    flags.map((text) => {
      const [, name = "", address = ""] = /^(?:([\w-]+)=)?(.*)$/s.exec(text) ?? [];
      return [name, asAddress(address, text)] as const;
    }),
  );
}

function asAddress(address: string, written: string): string {
  if (/^https?:$/.test(URL.parse(address)?.protocol ?? "")) return address;
  throw new EngineError(`--endpoint ${oneLine(written)}: it must be an address such as https://platform.example.com`);
}

const nameOf = (text: string): string =>
  text
    .replaceAll(/[^\w.-]/g, "-")
    .replace(/^[.-]+/, "")
    .slice(0, 100) || "project";

function nameGiven(text: string): string {
  if (nameOf(text) === text) return text;
  throw new EngineError(
    `--name ${oneLine(text)}: a project's name has letters, digits, "-", "_" and ".", at most 100, and begins with none of "-" and "."`,
  );
}

/** The Environment file of a dump, without the line for editors. */
function dumpedIn(folder: string): string {
  try {
    return readFileSync(path.join(folder, "environment.yaml"), "utf8").replace(/^# yaml-language-server:.*\n/, "");
  } catch (error) {
    throw new EngineError(`--from ${folder}: 'microapps dump' writes environment.yaml there: ${messageOf(error)}`);
  }
}

/** Copies the rows of a dump to where its Environment file finds them. */
function copyData(from: string, folder: string): void {
  const own = ["environment.yaml", importFile].map((file) => path.join(from, file));
  cpSync(from, folder, { recursive: true, filter: (file) => !own.includes(file), force: false });
}

/** Copies what is imported of a dump for files alone, and of no other, with the places that its rows have in the project. */
function copyImport(from: string, folder: string): void {
  const text = textAt(from, importFile);
  if (!text.includes('"component": true') || text.includes("pulumi-nodejs:")) return;
  const { resources } = JSON.parse(text) as { resources: Record<string, { source?: unknown } | undefined>[] }; // of a dump
  for (const sides of resources.flatMap(({ inputs, outputs }) => [inputs, outputs])) {
    const steps = typeof sides?.source === "string" ? sides.source.split("/") : [];
    const copied = steps.map((_, at) => steps.slice(at).join("/")).find((one) => existsSync(path.join(from, one)));
    if (sides && copied !== undefined) sides.source = copied;
  }
  writeFileSync(path.join(folder, importFile), `${JSON.stringify({ resources }, undefined, 2)}\n`, { mode: 0o600 });
}

/** package.json, whose modules Node runs as they are. */
function packageText(folder: string, name: string, language: Language): [file: string, text: string] | [] {
  if (!isNode(language)) return [];
  const before = textAt(folder, "package.json");
  try {
    const content = before === "" ? { name, private: true } : (JSON.parse(before) as object);
    const indent = /^[ \t]+/m.exec(before)?.[0] ?? 2;
    return ["package.json", `${JSON.stringify({ ...content, type: "module" }, undefined, indent)}\n`];
  } catch (error) {
    throw new EngineError(`package.json is not JSON: ${messageOf(error)}`);
  }
}

/** The commands that come next, for each stack: what is missing, and then the run of the first one. */
function nextSteps({ folder, language, environments, from, stack }: Decided, lacksPassphrase: boolean): string {
  const engine = isEmbedded(language) ? "npx microapps" : "pulumi";
  const commands = isNode(language) && !hasSdk(folder) ? ["npm install @pulumi/pulumi"] : [];
  if (lacksPassphrase)
    commands.push("export PULUMI_CONFIG_PASSPHRASE=... # of your own: it encrypts the secrets of the stacks");
  // Other languages have the CLI install the plugin's own.
  if (!isEmbedded(language)) commands.push("pulumi package add ./node_modules/pulumi-microapps/plugin");
  const [first] = environments;
  for (const { name, endpoint, email } of environments) {
    // What no flag names must not be the last one, which is production.
    const stays = name === first?.name ? "" : " --no-select";
    if (name !== stack) commands.push(`${engine} stack init ${name}${stays}`);
    if (endpoint === undefined) continue;
    if (email === undefined) commands.push(`${engine} config set microapps:email you@example.com -s ${name}`);
    commands.push(`${engine} config set microapps:password --secret -s ${name}`);
  }
  const imports = from !== undefined && existsSync(path.join(folder, importFile));
  if (imports && first)
    commands.push(`pulumi import --file ${importFile} --generate-code=false --yes -s ${stack ?? first.name}`);
  const selects = environments.length > 1 ? ` -s ${stack ?? first?.name ?? ""}` : "";
  commands.push(`${engine} up${selects}`);
  const adopting =
    from === undefined || environments.every(({ endpoint }) => endpoint === undefined)
      ? ""
      : `Rows that are exactly as declared are kept as they are; other rows need adopt: true, and organizations and teams an import${imports ? ", which the Pulumi CLI does" : ""}.\n`;
  return `${adopting}Next:\n${commands.map((command) => `  ${command}\n`).join("")}`;
}

/** True if a program of this folder finds the Pulumi SDK, also above. */
function hasSdk(folder: string): boolean {
  try {
    return createRequire(path.resolve(folder, "index.js")).resolve("@pulumi/pulumi") !== "";
  } catch {
    return false; // not installed
  }
}

/** True for an Environment file that brings the tables of an emulated platform along, as a masked dump does. */
const hasPlatform = (content: string): boolean => /^platform:/m.test(content);

/** Data files of emulators, and what a run leaves beside the program. */
const ignored = ["node_modules/", ".pulumi/", ".microapps/", ".venv/", "*.db", "*.db-shm", "*.db-wal", "*.old"];

/** Names that files of a project have already. */
const taken = ["base", "platform", "environments", "promotions", "drift", "masks", "Pulumi"];

/** Names of environments, by commas: each is the name of a stack and of a file. Throws what is wrong with them. */
function namesIn(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  const wrong = names.find((name) => !/^[\w-][\w.-]{0,99}$/.test(name) || taken.includes(name));
  if (wrong !== undefined)
    throw new EngineError(
      `--environments: ${quote(oneLine(wrong))} can't be the name of a stack and of a file: take others, by commas, such as dev,staging,prod`,
    );
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new EngineError(`--environments names ${twice} twice`);
  return names;
}

/**
 * The files of the environments by name: one Environment file each, of several what they share in base.yaml, and the
 * configuration of their stacks.
 * @param content an Environment file to go on with, without its modeline
 * @param isListed environments.yaml is needed
 */
function environmentFiles(
  environments: readonly NewEnvironment[],
  content: string | undefined,
  isListed: boolean,
): Record<string, string> {
  const isOne = environments.length === 1;
  const { example = "", platform = "" } = environmentTemplates("");
  const shared = content ?? example;
  const needsPlatform = content === undefined || !hasPlatform(content);
  const isEmulated = environments.some(({ endpoint }) => endpoint === undefined);
  const head = modeline(isEmulated || !needsPlatform ? editorSchema : packageSchema);
  const whole = `${head}${isEmulated && needsPlatform ? `extends: ${platformFile}\n` : ""}${shared}`;
  const files: Record<string, string> = isOne ? {} : { "base.yaml": whole };
  for (const { name, endpoint, email } of environments) {
    files[`${name}.yaml`] = isOne ? whole : `${head}extends: base.yaml\n`;
    files[`Pulumi.${name}.yaml`] = stackFile(name, endpoint, email);
  }
  if (isEmulated && needsPlatform) files[platformFile] = head + platform;
  if (isListed) files["environments.yaml"] = listText(environments);
  return files;
}

function stackFile(name: string, endpoint: string | undefined, email: string | undefined): string {
  if (endpoint === undefined) return environmentTemplates(name)["emulated"] ?? "";
  const config = { "microapps:endpoint": endpoint, ...(email === undefined ? {} : { "microapps:email": email }) };
  return new Document({ config }).toString();
}

/** What an environment begins with: an example, its emulated platform, and the configuration of its stack. */
const environmentTemplates = (name: string): Record<string, string> =>
  filesFrom("init/templates/environment", { name, data: name === "dev" ? "platform.db" : `platform-${name}.db` });

function listText(environments: readonly NewEnvironment[]): string {
  const entries = environments.map(({ name, endpoint }, index) => [
    name,
    {
      file: `${name}.yaml`,
      ...(index === 0 ? {} : { after: environments[index - 1]?.name }),
      ...(endpoint === undefined ? {} : { endpoint }),
    },
  ]);
  return new Document(Object.fromEntries(entries)).toString();
}

/** A .gitignore that has what no repository should, behind the lines that it has. */
function extendGitignore(before: string): string {
  const lines = before.split("\n").map((line) => line.trim());
  const missing = ignored.filter((line) => !lines.includes(line));
  const start = before === "" || before.endsWith("\n") ? before : `${before}\n`;
  return `${start}${missing.map((line) => `${line}\n`).join("")}`;
}
