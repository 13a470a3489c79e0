import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { nearest } from "../../machine/spelling.ts";
import { EngineError, exitStatuses, Refusal } from "../errors.ts";
import { writeDurably, type WriteFile } from "../state/atomicWrite.ts";
import {
  type Checkpoint,
  decodeDeployment,
  type Deployment,
  parseCheckpoint,
  encodeDeployment,
  formatOf,
  CheckpointText,
  type SecretSeal,
} from "../state/checkpoint.ts";
import { type Crypter, hasPassphrase, newCrypter, openCrypter, passphraseFrom } from "../state/crypter.ts";
import { backendFolder, FileBackend, isName, nameRule } from "../state/fileBackend.ts";
import { Lock } from "../state/lock.ts";
import { Cipher, type Config, effectiveConfig } from "./config.ts";
import { findProject, type Project, readProject } from "./project.ts";
import { currentBackend, readSelectedStack } from "./pulumiHome.ts";
import { StackFile } from "./stackFile.ts";

const either = new Intl.ListFormat("en", { type: "disjunction" });

/** Where a command runs, and on which stack. */
export interface WorkspaceOptions {
  /** The folder of Pulumi.yaml or one below it. */
  cwd: string;
  /** Name of the stack, `dev` or `organization/<project>/dev`; default: PULUMI_STACK, then the selected one. */
  stack?: string | undefined;
  environment: NodeJS.ProcessEnv;
  /** Asks a person for the passphrase when the environment has none; `isNew`: for a new stack. */
  askPassphrase?: ((isNew: boolean) => Promise<string>) | undefined;
  /** Writes files; default: durably. Tests simulate a full disk with it. */
  write?: WriteFile | undefined;
}

export class Workspace {
  readonly project: Project;
  readonly backend: FileBackend;
  readonly environment: NodeJS.ProcessEnv;
  /** Where stacks were searched, for errors; empty when it is the project's own folder. */
  readonly #searchHint: string;
  readonly #askPassphrase: WorkspaceOptions["askPassphrase"];
  #passphrase: Promise<string> | undefined;

  private constructor(project: Project, backend: FileBackend, options: WorkspaceOptions, searchHint: string) {
    this.project = project;
    this.backend = backend;
    this.environment = options.environment;
    this.#askPassphrase = options.askPassphrase;
    this.#searchHint = searchHint;
  }

  static async open(options: WorkspaceOptions): Promise<Workspace> {
    const project = readProject(findProject(options.cwd));
    const { backend, url } = await openBackend(project, options);
    return new Workspace(project, backend, options, searchHintFor(project, backend, url));
  }

  /** Reads the passphrase from the environment, or asks a person once. */
  passphrase(isNew = false): Promise<string> {
    if (!this.#askPassphrase || hasPassphrase(this.environment))
      return Promise.resolve(passphraseFrom(this.environment));
    return (this.#passphrase ??= this.#askPassphrase(isNew));
  }

  /** Resolves the name of a stack, which may be a full name; default: the selected one. */
  async chosenStack(fullName: string | undefined): Promise<string> {
    if (fullName || this.#selected()) return this.stackName(fullName);
    const names = await this.backend.stacks(this.project.name);
    const some = `name ${either.format(names)} with --stack, or choose one with 'stack select <name>'`;
    throw new EngineError(`no stack selected: ${names.length > 0 ? some : this.firstStackHint}`);
  }

  /** How to make the first stack, for messages. */
  get firstStackHint(): string {
    return `create one with 'stack init <name>'${this.#searchHint}`;
  }

  /** Makes the error of a missing stack, with the most similar name or all names. */
  async noSuchStack(name: string): Promise<EngineError> {
    const names = await this.backend.stacks(this.project.name);
    const near = nearest(name, names);
    const there = names.length > 0 ? `there is ${names.join(", ")}; ` : "";
    const remedy =
      near === undefined
        ? `: ${there}create it with 'stack init ${name}'${this.#searchHint}`
        : `; did you mean '${near}'? If not, create it with 'stack init ${name}'`;
    return new EngineError(`no stack named '${name}' found${remedy}`, exitStatuses.noSuchStack);
  }

  #selected(): string | undefined {
    return (
      this.environment["PULUMI_STACK"] || readSelectedStack(this.project.name, this.project.file, this.environment)
    );
  }

  /** Checks the name of a stack and reduces a full name to its last part; default: the selected one. */
  stackName(fullName: string | undefined): string {
    const written = fullName || this.#selected() || "";
    const parts = written.split("/");
    const name = parts.at(-1) ?? "";
    const owner = parts.length === 3 ? parts[0] : undefined;
    const project = parts.length === 3 ? parts[1] : undefined;
    if (parts.length === 2 || parts.length > 3 || (owner !== undefined && owner !== "organization")) {
      throw new EngineError(
        `'${written}' is not the name of a stack: write '<name>' or 'organization/${this.project.name}/<name>'`,
      );
    }
    if (project !== undefined && project !== this.project.name) {
      throw new EngineError(
        `the stack '${written}' belongs to the project '${project}', and ${this.project.file} is '${this.project.name}'`,
        exitStatuses.noSuchStack,
      );
    }
    if (!isName(name)) throw new EngineError(`'${name}' is not the name of a stack: ${nameRule}`);
    return name;
  }

  /** Makes an empty stack with its encryption salt. */
  async init(fullName: string): Promise<Stack> {
    const name = this.stackName(fullName);
    if ((await this.backend.read(this.project.name, name)) !== undefined) {
      throw new EngineError(`stack '${name}' already exists`);
    }
    const file = new StackFile(this.project, name);
    const stack = new Stack(this, name, file, await this.#crypter(file, file.salt, file.salt === undefined));
    await stack.write({ resources: [], operations: [], metadata: {} });
    return stack;
  }

  /** Finds a stack that exists. Its secrets stay encrypted, so no passphrase is needed. */
  async find(fullName: string | undefined): Promise<FoundStack> {
    const name = await this.chosenStack(fullName);
    const text = await this.backend.read(this.project.name, name);
    if (text === undefined) throw await this.noSuchStack(name);
    return { project: this.project, name, file: new StackFile(this.project, name), text };
  }

  async stack(fullName: string | undefined): Promise<Stack> {
    return this.unlock(await this.find(fullName));
  }

  /** Opens a stack that was found, on the same file. */
  async unlock({ name, file, text }: FoundStack): Promise<Stack> {
    const salt = file.salt ?? parseCheckpoint(text, this.backend.checkpointFile(this.project.name, name)).salt;
    return new Stack(this, name, file, await this.#crypter(file, salt, false));
  }

  /** Opens the secrets of a stack; its file keeps the salt. Without one new secrets begin. */
  async #crypter(file: StackFile, salt: string | undefined, isNew: boolean): Promise<Crypter> {
    const passphrase = await this.passphrase(isNew);
    const crypter = await (salt === undefined ? newCrypter(passphrase) : openCrypter(salt, passphrase));
    if (file.salt === undefined) {
      file.salt = crypter.salt;
      await file.save();
    }
    return crypter;
  }
}

/** A stack as it lies in its files. */
export interface FoundStack {
  readonly project: Project;
  readonly name: string;
  readonly file: StackFile;
  /** Its state. */
  readonly text: string;
}

/** Opens the backend of a project, which is made where there is none yet. */
async function openBackend(
  project: Pick<Project, "file" | "backendUrl">,
  { cwd, environment, write }: WorkspaceOptions,
): Promise<{ backend: FileBackend; url: string }> {
  const url = backendUrlOf(project, environment);
  const backend = new FileBackend(backendFolder(url, cwd), write ?? writeDurably);
  refuseVariable(environment, /_GZIP$|_ZSTD$/, "compressed states");
  refuseVariable(environment, /_RETAIN_CHECKPOINTS$/, "a copy of each state that was");
  // The CLI looks at it in a new backend alone.
  await backend.open(() => refuseVariable(environment, /_LEGACY_LAYOUT$/, "the old layout without projects"));
  return { backend, url };
}

function backendUrlOf(
  { file, backendUrl }: Pick<Project, "file" | "backendUrl">,
  environment: NodeJS.ProcessEnv,
): string {
  const url = environment["PULUMI_BACKEND_URL"] || backendUrl || currentBackend(environment);
  if (url !== undefined) return url;
  throw new EngineError(
    `no state backend is configured: set 'backend: {url: file://.}' in ${file} or PULUMI_BACKEND_URL=file://<folder>`,
  );
}

/** Throws where a variable of the Pulumi CLI asks for states in a form that this engine does not write. */
function refuseVariable(environment: NodeJS.ProcessEnv, name: RegExp, what: string): void {
  const variable = Object.keys(environment).find(
    (each) =>
      each.startsWith("PULUMI_") && name.test(each) && ["1", "true"].includes(environment[each]?.toLowerCase() ?? ""),
  );
  if (variable === undefined) return;
  throw new Refusal(`${variable}: the embedded engine does not do this (${what}): unset it, or use the Pulumi CLI`);
}

/** Refuses a stack of a project that is still to be written, where its backend has one of that name or can't be opened. */
export async function refuseTakenStack(
  project: Pick<Project, "name" | "file" | "backendUrl">,
  stack: string,
  options: WorkspaceOptions,
): Promise<void> {
  const { backend } = await openBackend(project, options);
  if ((await backend.read(project.name, stack)) === undefined) return;
  throw new EngineError(
    `stack '${stack}' already exists in ${backend.checkpointFile(project.name, stack)}, and nothing was written: ` +
      "leave out --stack to go on with it, or give the project another --name",
  );
}

/** Explains a relative backend: it counts from the current folder, as with Pulumi, and the project may lie above it. */
function searchHintFor({ root, file }: Project, { folder }: FileBackend, url: string): string {
  const isRelative = /^file:\/\/(\.|[^/~])/.test(url);
  if (!isRelative || folder === path.resolve(root, url.slice("file://".length))) return "";
  return (
    `. Stacks were looked for in ${path.join(folder, ".pulumi")}, since the backend '${url}' is taken from the current ` +
    `folder: run it in ${root}, where ${path.basename(file)} lies, to look there`
  );
}

/** One stack of a project: its configuration and its state. */
export class Stack {
  readonly workspace: Workspace;
  readonly name: string;
  readonly file: StackFile;
  readonly crypter: Crypter;
  readonly #text: CheckpointText;

  constructor(workspace: Workspace, name: string, file: StackFile, crypter: Crypter) {
    this.workspace = workspace;
    this.name = name;
    this.file = file;
    this.crypter = crypter;
    this.#text = new CheckpointText(workspace.project.name, name, crypter);
  }

  get project(): Project {
    return this.workspace.project;
  }

  /** The configuration in effect, decrypted and checked against what Pulumi.yaml declares. */
  config(): Config {
    return effectiveConfig(this.file.values(), this.project, this.name, this.crypter);
  }

  lock(): Lock {
    return new Lock(this.lockFolder, this.name);
  }

  get lockFolder(): string {
    return this.workspace.backend.lockFolder(this.project.name, this.name);
  }

  get stateFile(): string {
    return this.workspace.backend.checkpointFile(this.project.name, this.name);
  }

  async #checkpoint(): Promise<Checkpoint> {
    const text = await this.workspace.backend.read(this.project.name, this.name);
    if (text === undefined) throw new EngineError(`no stack named '${this.name}' found`, exitStatuses.noSuchStack);
    return parseCheckpoint(text, this.stateFile);
  }

  async read(): Promise<Deployment> {
    const checkpoint = await this.#checkpoint();
    const { salt } = checkpoint;
    // A state with another salt is read with that one; the next write uses the salt of the stack's file.
    const crypter =
      salt === undefined || salt === this.crypter.salt
        ? this.crypter
        : await openCrypter(salt, await this.workspace.passphrase());
    return decodeDeployment(checkpoint, crypter);
  }

  /** The state as `stack export` prints it, with its secrets encrypted or in clear. */
  async exported(showSecrets: boolean, time: Date): Promise<object> {
    const deployment = await this.read();
    const seal: SecretSeal = showSecrets
      ? (_, plaintext) => ({ plaintext })
      : (place, text) => ({ ciphertext: this.crypter.encryptAt(place, text) });
    const state = encodeDeployment(deployment, seal, this.crypter.salt, time);
    return { ...formatOf(deployment), deployment: state };
  }

  async write(deployment: Deployment): Promise<void> {
    await this.workspace.backend.write(this.project.name, this.name, this.#text.render(deployment, new Date()));
  }
}

/** The folder of Pulumi.yaml, which is searched from a folder upwards. Nothing is opened or made. */
export const projectFolder = (cwd: string): string => path.dirname(findProject(cwd));

/**
 * The text of a stack's state as it lies in the file backend, secrets encrypted; undefined where there is no such stack.
 * No passphrase, no lock, and nothing is written.
 */
export async function stateAtRest(
  cwd: string,
  stack: string,
  environment: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const project = readProject(findProject(cwd));
  if (!isName(stack)) throw new EngineError(`'${stack}' is not the name of a stack: ${nameRule}`);
  return new FileBackend(backendFolder(backendUrlOf(project, environment), cwd)).read(project.name, stack);
}

/**
 * The settings of a stack as they lie in files: the texts of both, and a setting in clear or as ciphertext. No passphrase.
 */
export function settingsAtRest(
  project: Project,
  stack: string,
): { texts: string[]; setting: (key: string) => string | undefined } {
  const file = new StackFile(project, stack);
  const values = file.values();
  const texts = [project.file, file.file].map((each) => (existsSync(each) ? readFileSync(each, "utf8") : ""));
  const setting = (key: string): string | undefined => {
    const value = Object.hasOwn(values, key) ? values[key] : project.config[key]?.fallback;
    if (value === undefined || value === null) return undefined;
    return value instanceof Cipher ? value.text : typeof value === "string" ? value : JSON.stringify(value);
  };
  return { texts, setting };
}

/** The project of a folder, or of one above it. */
export const projectAt = (cwd: string): Project => readProject(findProject(cwd));

/** The state of a stack as `stack export --show-secrets` prints it. Nothing is locked or written. */
export async function stateInClear(
  cwd: string,
  stack: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<{ stack: string; text: string }> {
  const opened = await (await Workspace.open({ cwd, environment })).stack(stack);
  return { stack: opened.name, text: JSON.stringify(await opened.exported(true, new Date(0))) };
}
