import { Document } from "yaml";
import { EngineError, oneLine } from "../../../engine/index.ts";
import { quote } from "../../../platform/messages/text.ts";
import { modeline, packageSchema } from "../../tableSchema/outputs.ts";

/** An environment of a new project. */
export interface NewEnvironment {
  name: string;
  /** Address of its platform; undefined: an emulator of its own. */
  endpoint: string | undefined;
  email: string | undefined;
}

/** Name of the schema by which editors complete the environments: written where tables are known, which an emulated platform declares. */
export const editorSchema = "environment.schema.json";

const example = `organizations:
  acme: # the name in the stack; the one below may change at any time
    name: Acme
    teams:
      crew: { name: Crew, members: { ada@example.com: admin } }
seeds:
  countries:
    table: countries
    key: Code
    rows:
      - { Code: DE, Name: Germany, Capital: Bonn }
      - { Code: PT, Name: Portugal, Capital: Lisbon }
`;

/** The file that describes the emulated platform. */
const platformFile = "platform.yaml";

const platform = `platform: # what the emulated platform has from the start; never deployed
  tables:
    countries: { fields: { Code: text, Name: text, Capital: text } }
    offices: { fields: { City: text, Country: { type: linked, table: countries, field: Code }, Desks: number } }
`;

/** True for an Environment file that brings the tables of an emulated platform along, as a masked dump does. */
export const hasPlatform = (content: string): boolean => /^platform:/m.test(content);

/** Data files of emulators, and what a run leaves beside the program. */
const ignored = ["node_modules/", ".pulumi/", ".microapps/", ".venv/", "*.db", "*.db-shm", "*.db-wal", "*.old"];

const dataFile = (name: string): string => (name === "dev" ? "platform.db" : `platform-${name}.db`);

/** Names that files of a project have already. */
const taken = ["base", "platform", "environments", "promotions", "drift", "masks", "Pulumi"];

/** Names of environments, by commas: each is the name of a stack and of a file. Throws what is wrong with them. */
export function namesIn(text: string): string[] {
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
export function environmentFiles(
  environments: readonly NewEnvironment[],
  content: string | undefined,
  isListed: boolean,
): Record<string, string> {
  const isOne = environments.length === 1;
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
  if (isEmulated && needsPlatform) files[platformFile] = `${head}${platform}`;
  if (isListed) files["environments.yaml"] = listText(environments);
  return files;
}

function stackFile(name: string, endpoint: string | undefined, email: string | undefined): string {
  if (endpoint === undefined) {
    return `config:
  microapps:endpoint: emulator:${dataFile(name)}?seed=${name}.yaml
  microapps:email: admin@example.com
  microapps:password: admin # the emulator's, which only this machine reaches
`;
  }
  const config = { "microapps:endpoint": endpoint, ...(email === undefined ? {} : { "microapps:email": email }) };
  return new Document({ config }).toString();
}

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
export function extendGitignore(before: string): string {
  const lines = before.split("\n").map((line) => line.trim());
  const missing = ignored.filter((line) => !lines.includes(line));
  const start = before === "" || before.endsWith("\n") ? before : `${before}\n`;
  return `${start}${missing.map((line) => `${line}\n`).join("")}`;
}
