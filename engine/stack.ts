import { Backend, backendFolder } from "./backend.ts";
import { type Checkpoint, decodeDeployment, type Deployment, parseCheckpoint, renderCheckpoint } from "./checkpoint.ts";
import { type Config, effectiveConfig } from "./config.ts";
import { EngineError, statuses } from "./errors.ts";
import { type WriteFile, writeDurably } from "./files.ts";
import { Lock } from "./lock.ts";
import { isName, nameRule } from "./names.ts";
import { findProject, type Project, readProject } from "./project.ts";
import { type Crypter, newCrypter, openCrypter, passphraseFrom } from "./secrets.ts";
import { StackFile } from "./stackfile.ts";
import { currentBackend, selectedStack } from "./workspace.ts";

/** Where a command runs. */
export interface Place {
  /** The folder of Pulumi.yaml or one below it. */
  cwd: string;
  /** Name of the stack, `dev` or `organization/<project>/dev`; default: PULUMI_STACK, then the selected one. */
  stack?: string | undefined;
  environment: NodeJS.ProcessEnv;
  /** How files are written; a parameter, so that a full disk can be tried. */
  write?: WriteFile | undefined;
}

/** The project and its backend. */
export class Workspace {
  readonly project: Project;
  readonly backend: Backend;
  readonly environment: NodeJS.ProcessEnv;

  private constructor(project: Project, backend: Backend, environment: NodeJS.ProcessEnv) {
    this.project = project;
    this.backend = backend;
    this.environment = environment;
  }

  static async open({ cwd, environment, write }: Place): Promise<Workspace> {
    const project = readProject(findProject(cwd));
    const url = environment["PULUMI_BACKEND_URL"] || project.backendUrl || currentBackend(environment);
    if (url === undefined) {
      throw new EngineError(
        `no state backend is configured: set 'backend: {url: file://.}' in ${project.file} or PULUMI_BACKEND_URL=file://<folder>`,
      );
    }
    const backend = new Backend(backendFolder(url, cwd), write ?? writeDurably);
    await backend.open();
    return new Workspace(project, backend, environment);
  }

  /** The name proper of a stack that may be given in full. */
  stackName(given: string | undefined): string {
    const full =
      given ||
      this.environment["PULUMI_STACK"] ||
      selectedStack(this.project.name, this.project.file, this.environment);
    if (!full) {
      throw new EngineError("no stack selected: name one with --stack, or make one with 'stack init <name>'");
    }
    const parts = full.split("/");
    const name = parts.at(-1) ?? "";
    const owner = parts.length === 3 ? parts[0] : undefined;
    const project = parts.length === 3 ? parts[1] : undefined;
    if (parts.length === 2 || parts.length > 3 || (owner !== undefined && owner !== "organization")) {
      throw new EngineError(
        `'${full}' is not the name of a stack: write '<name>' or 'organization/${this.project.name}/<name>'`,
      );
    }
    if (project !== undefined && project !== this.project.name) {
      throw new EngineError(
        `the stack '${full}' belongs to the project '${project}', and ${this.project.file} is '${this.project.name}'`,
        statuses.noSuchStack,
      );
    }
    if (!isName(name)) throw new EngineError(`'${name}' is not the name of a stack: ${nameRule}`);
    return name;
  }

  /** Makes an empty stack with its encryption salt. */
  async init(given: string): Promise<Stack> {
    const name = this.stackName(given);
    if ((await this.backend.read(this.project.name, name)) !== undefined) {
      throw new EngineError(`stack '${name}' already exists`);
    }
    const passphrase = passphraseFrom(this.environment);
    const file = new StackFile(this.project, name);
    const crypter = file.salt === undefined ? await newCrypter(passphrase) : await openCrypter(file.salt, passphrase);
    if (file.salt === undefined) {
      file.salt = crypter.salt;
      file.save();
    }
    const empty: Deployment = { resources: [], operations: [], metadata: {} };
    await this.backend.write(
      this.project.name,
      name,
      renderCheckpoint(empty, this.project.name, name, crypter, new Date()),
    );
    return new Stack(this, name, file, crypter);
  }

  async stack(given: string | undefined): Promise<Stack> {
    const name = this.stackName(given);
    const text = await this.backend.read(this.project.name, name);
    if (text === undefined) {
      throw new EngineError(`no stack named '${name}' found: make it with 'stack init ${name}'`, statuses.noSuchStack);
    }
    const file = new StackFile(this.project, name);
    const passphrase = passphraseFrom(this.environment);
    const salt = file.salt ?? parseCheckpoint(text, this.backend.checkpointFile(this.project.name, name)).salt;
    const crypter = salt === undefined ? await newCrypter(passphrase) : await openCrypter(salt, passphrase);
    if (file.salt === undefined) {
      file.salt = crypter.salt;
      file.save();
    }
    return new Stack(this, name, file, crypter);
  }
}

/** One stack of a project: its configuration and its state. */
export class Stack {
  readonly workspace: Workspace;
  readonly name: string;
  readonly file: StackFile;
  readonly crypter: Crypter;

  constructor(workspace: Workspace, name: string, file: StackFile, crypter: Crypter) {
    this.workspace = workspace;
    this.name = name;
    this.file = file;
    this.crypter = crypter;
  }

  get project(): Project {
    return this.workspace.project;
  }

  /** The configuration in effect, decrypted and checked against what Pulumi.yaml declares. */
  config(): Config {
    return effectiveConfig(this.file.values(), this.project, this.name, this.crypter);
  }

  lock(): Lock {
    return new Lock(this.lockFolder);
  }

  get lockFolder(): string {
    return this.workspace.backend.lockFolder(this.project.name, this.name);
  }

  get stateFile(): string {
    return this.workspace.backend.checkpointFile(this.project.name, this.name);
  }

  async #checkpoint(): Promise<Checkpoint> {
    const text = await this.workspace.backend.read(this.project.name, this.name);
    if (text === undefined) throw new EngineError(`no stack named '${this.name}' found`, statuses.noSuchStack);
    return parseCheckpoint(text, this.stateFile);
  }

  /** The state as it is on disk. */
  async read(): Promise<Deployment> {
    const checkpoint = await this.#checkpoint();
    const { salt } = checkpoint;
    // A state that was written with another salt is read with it, and written anew with the one of the stack's file.
    const crypter =
      salt === undefined || salt === this.crypter.salt
        ? this.crypter
        : await openCrypter(salt, passphraseFrom(this.workspace.environment));
    return decodeDeployment(checkpoint, crypter);
  }

  async write(deployment: Deployment): Promise<void> {
    const text = renderCheckpoint(deployment, this.project.name, this.name, this.crypter, new Date());
    await this.workspace.backend.write(this.project.name, this.name, text);
  }
}
