import path from "node:path";
import { EngineError, oneLine, printable, printableJson } from "../../../engine/cli/cli.ts";
import { unbroken } from "../../../platform/messages/text.ts";
import { checkEnvironment } from "../../../provider/environment/checks.ts";
import {
  type Declaration,
  type DeclarationReading,
  readEnvironment,
} from "../../../provider/environment/declaration.ts";
import { EnvironmentError } from "../../../provider/environment/problems.ts";
import { origins, toShownTree, yamlOf } from "../../../provider/environment/shown.ts";
import { projectAbove } from "../../../provider/files/files.ts";
import { toPlainValue, describePlace } from "../../../provider/layers/document.ts";

/** Flags of the commands. */
interface Options {
  cwd?: string;
  stack?: string;
  origin?: boolean;
  base?: string;
  out?: string;
  json?: boolean;
}

/** Checks a file; what is wrong ends it with every problem at its place. */
export async function checkFile(file: string | undefined, options: Options): Promise<string> {
  const { name, folder } = chosen(file, options);
  const checked = await checkEnvironment(name, folder);
  const { declared } = sound(name, checked);
  const notes = options.base === undefined ? [] : await sinceBase(name, folder, options.base);
  const lines = [
    ...checked.warnings.map(({ at, message }) => `warning: ${unbroken(`${describePlace(at)}: ${message}`)}`),
    ...notes.map((note) => `warning: ${note}`),
    `environment ${oneLine(name)} is sound: ${counted(declared)}`,
  ];
  return printable(`${lines.join("\n")}\n`, false);
}

/** Notes on the changes since a commit; throws for changes that must not be made, or can't be compared. */
async function sinceBase(file: string, folder: string, base: string): Promise<string[]> {
  const { report } = await import("../../report/report.ts");
  const { stops } = await import("../../report/changeSet.ts");
  const { environments } = await report({ folder, base, stacks: [], file });
  const unread = environments.flatMap(({ change }) => (change.compared ? [] : [`not compared: ${change.why ?? ""}`]));
  const reasons = [...unread, ...environments.flatMap(stops)];
  const hints = environments.flatMap(({ change }) => change.hints ?? []);
  if (reasons.length === 0) return [...hints, ...environments.flatMap(({ notes }) => notes)];
  const lines = [...reasons, ...hints].map((reason) => `  ${reason}`);
  throw new EngineError([`environment ${file} can't change so from ${base}:`, ...lines].join("\n"), 2);
}

/** The merged file, as YAML or JSON. */
export function showFile(file: string | undefined, options: Options): string {
  const { name, folder } = chosen(file, options);
  const { root, declared } = sound(name, readEnvironment(name, folder));
  const tree = toShownTree(root, declared);
  if (!options.json) return printable(yamlOf(tree, options.origin), false);
  return `${printableJson(options.origin ? { environment: toPlainValue(tree), origins: origins(tree) } : toPlainValue(tree), 2)}\n`;
}

/** Writes the schema by which an editor completes a file. */
export async function describeFile(file: string | undefined, options: Options): Promise<string> {
  const { name, folder } = chosen(file, options);
  const { writeEditorSchema } = await import("./editorSchema.ts");
  const { out = path.join(path.dirname(name), "environment.schema.json") } = options;
  return printable(writeEditorSchema(name, folder, out), false);
}

type Sound = { [Name in "root" | "declared"]-?: Exclude<DeclarationReading[Name], undefined> };

function sound(name: string, { root, declared, problems }: DeclarationReading): Sound {
  if (problems.length > 0 || !root || !declared) {
    throw new EngineError(new EnvironmentError(name, problems).message, 2);
  }
  return { root, declared };
}

/** The file that is meant, and the folder that it is named from. */
function chosen(file: string | undefined, { cwd = ".", stack }: Options): { name: string; folder: string } {
  const folder = path.resolve(cwd);
  if (file !== undefined) return { name: file, folder };
  if (stack === undefined) {
    throw new EngineError("name the Environment file, or its stack with --stack");
  }
  const name = `${stack.split("/").at(-1) ?? ""}.yaml`;
  return { name, folder: projectAbove(folder) }; // a stack's file lies beside Pulumi.yaml
}

/** Counts the declarations of a file. */
function counted({ organizations, seeds, apps, notifications }: Declaration): string {
  const teams = Object.values(organizations).flatMap(({ teams = {} }) => Object.values(teams));
  const members = teams.flatMap(({ members = {}, roster }) => Object.keys({ ...members, ...roster?.members }));
  const counts: [number, string][] = [
    [Object.keys(organizations).length, "organization"],
    [teams.length, "team"],
    [members.length, "member"],
    [Object.keys(seeds).length, "seed"],
    [Object.values(seeds).reduce((sum, { files = {} }) => sum + Object.keys(files).length, 0), "file"],
    [Object.keys(apps).length, "app"],
    [Object.keys(notifications).length, "notification"],
  ];
  const some = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}${count > 1 ? "s" : ""}`);
  return some.length > 0 ? some.join(", ") : "it declares nothing";
}
