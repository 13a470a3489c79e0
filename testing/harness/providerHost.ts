import grpc from "@grpc/grpc-js";
import engineService from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb.js";
import providerService from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import statusProto from "@pulumi/pulumi/proto/status_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { emptyOf, usualPlace } from "./project.ts";
import { bound, inClear, javaScript, struct, type Properties } from "./wire.ts";

export type { Properties };

const { PropertyDiff } = providerProto;

type Settings = Readonly<Record<string, string>>;

/** A provider as an engine starts it. */
export interface TestedKind {
  name: string;
  /** Path of the program; it gets the engine's address and runs in the project folder. */
  program: string;
  nodeArguments: readonly string[];
  /** Begins it in this process instead. */
  begin?: (engine: string, folder: string) => InstanceType<typeof providerService.ResourceProviderClient>;
  environment?: Readonly<Record<string, string>>;
  /** Type tokens begin with it. */
  types: string;
  /** True when it knows the newer part of the protocol. */
  modern: boolean;
  /** The provider's inputs from keys as a stack spells them. */
  configuration: (config: Readonly<Record<string, string>>) => Properties;
  /** Inputs as this kind's SDK sends them. */
  given: (type: string, urn: string, news: Properties) => Properties;
  /** Properties of this kind of provider alone. */
  own: readonly string[];
  /** Properties as this kind's engine has them. */
  sent: (properties: Properties, type: string) => Properties;
  /** And as resources know them. */
  seen: (properties: Properties, type: string) => Properties;
}

/** A partial failure as it comes over the wire. */
export class InitFailed extends Error {
  readonly id: string;
  properties: Properties;
  constructor(failed: InstanceType<typeof providerProto.ErrorResourceInitFailed>) {
    super(failed.getReasonsList().join("; "));
    this.id = failed.getId();
    this.properties = javaScript(failed.getProperties());
  }
}

/** Parts that differ from run to run. */
const accidents: [RegExp, string][] = [
  [/pulumi-nodejs:dynamic\/microapps:/g, "microapps:index:"], // types in URNs
  [/127\.0\.0\.1:\d+/g, "<endpoint>"],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>"],
  [/\b[0-9A-Za-z]{17,26}\b/g, "<id>"],
  [/\b[0-9a-f]{32}\.(nd)?json\b/g, "<intent>"],
  [/Error: (Connection dropped|read ECONNRESET)/g, "Error: <killed>"],
];

/** A provider as an engine uses it, in a project folder of its own. */
export class ProviderHost {
  readonly providerKind: TestedKind;
  /** Project folder: sources and data of an emulator are found here. */
  readonly folder: string;
  /** The provider's messages, as `severity: text`; live status lines are left out. */
  readonly told: string[] = [];
  readonly statuses: string[] = []; // live lines
  printed = "";
  /** Each call with its answer or failure, without the parts that differ between kinds of provider. */
  readonly trace: string[] = [];
  /** False where nobody asks for the trace of very many calls. */
  isTraced = true;
  /** Name of the resource that the calls are about. */
  resource = "it";
  /** Seconds that the engine gives each call of a create, read, update or delete; 0 for as many as it takes. */
  timeout = 0;
  readonly #engine: grpc.Server;
  /** Arguments for starting its process. */
  #started: { engine: string; config: Readonly<Record<string, string>> };
  readonly #others: ProviderHost[] = [];
  #child: ChildProcess | undefined;
  #client: InstanceType<typeof providerService.ResourceProviderClient> | undefined;

  protected constructor(kind: TestedKind, folder: string, engine: grpc.Server, config: Settings) {
    this.#started = { engine: "", config };
    this.providerKind = kind;
    this.folder = folder;
    this.#engine = engine;
  }

  static async start(kind: TestedKind, config: Readonly<Record<string, string>>): Promise<ProviderHost> {
    const folder = await mkdtemp(join(tmpdir(), "microapps-host-"));
    await symlink(join(import.meta.dirname, "../../../node_modules"), join(folder, "node_modules"));
    const engine = new grpc.Server();
    const host = new ProviderHost(kind, folder, engine, config);
    engine.addService(engineService.EngineService, {
      log: (
        { request }: { request: LogRequest },
        done: (error: null, answer: InstanceType<typeof emptyProto.Empty>) => void,
      ) => {
        const text = request.getMessage();
        if (request.getEphemeral()) host.statuses.push(text);
        else host.told.push(`${["debug", "info", "warning", "error"][request.getSeverity()] ?? ""}: ${text}`);
        done(null, new emptyProto.Empty());
      },
    });
    host.#started = { engine: await bound(engine), config };
    try {
      await host.#spawn();
      return host;
    } catch (error) {
      await host.stop();
      throw error;
    }
  }

  /** The process of another provider of the same run, with some settings of its own; it ends with this one. */
  async beside(config: Readonly<Record<string, string>> = {}): Promise<ProviderHost> {
    this.#needsProcess();
    const other = new ProviderHost(this.providerKind, this.folder, this.#engine, {});
    this.#others.push(other);
    other.#started = { ...this.#started, config: { ...this.#started.config, ...config } };
    await other.#spawn();
    return other;
  }

  async #spawn(): Promise<void> {
    const { engine, config } = this.#started;
    const { modern, configuration } = this.providerKind;
    this.#client = this.providerKind.begin ? this.providerKind.begin(engine, this.folder) : await this.#connected();
    if (modern) {
      const greeting = new providerProto.ProviderHandshakeRequest().setEngineAddress(engine);
      await this.ask((client, done) => client.handshake(greeting, done));
    }
    const request = new providerProto.ConfigureRequest();
    request.setArgs(struct(configuration(config)));
    if (config["microapps:explicitProvider"] !== undefined) {
      request.setUrn(`urn:pulumi:dev::tests::pulumi:providers:${this.providerKind.name}::own`);
    }
    await this.ask((client, done) => client.configure(request, done));
  }

  /** Starts the provider's process. */
  async #connected(): Promise<InstanceType<typeof providerService.ResourceProviderClient>> {
    const { engine } = this.#started;
    const { program, nodeArguments, environment } = this.providerKind;
    const child = spawn(process.execPath, [...nodeArguments, program, engine], {
      cwd: this.folder,
      env: { ...process.env, XDG_STATE_HOME: join(this.folder, ".state"), ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    const lines = createInterface({ input: child.stdout });
    child.stderr.on("data", (data: Buffer) => (this.printed += data.toString()));
    const [port] = (await once(lines, "line")) as [string]; // the event's only argument
    lines.on("line", (line) => (this.printed += `${line}\n`));
    return new providerService.ResourceProviderClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  }

  /** The same, for calls about the resource of this name from here on. */
  as(name: string): this {
    this.resource = name;
    return this;
  }

  /** Checks inputs; problems come as `property: reason`. None may name its property apart: engines print the value. */
  check(type: string, news: Properties, olds: Properties = {}): Promise<{ inputs: Properties; problems: string[] }> {
    return this.#noted(`check ${type}`, async () => {
      const request = new providerProto.CheckRequest();
      request
        .setUrn(this.urn(type))
        .setOlds(this.#struct(olds, type))
        .setNews(this.#struct(this.providerKind.given(type, this.urn(type), news), type));
      const answer = await this.ask<InstanceType<typeof providerProto.CheckResponse>>((client, done) =>
        client.check(request, done),
      );
      const problems = answer.getFailuresList().map((failure) => {
        if (failure.getProperty() !== "") throw new Error(`the failure names ${failure.getProperty()} apart`);
        return failure.getReason();
      });
      if (this.providerKind.modern && Object.keys(olds).length === 0 && problems.length === 0) {
        const ahead = new providerProto.CreateRequest().setUrn(this.urn(type)).setPreview(true); // as in a preview
        await this.ask((client, done) => client.create(ahead.setProperties(answer.getInputs()), done));
      }
      return { inputs: this.#properties(answer.getInputs(), type), problems };
    });
  }

  diff(type: string, id: string, olds: Properties, news: Properties) {
    return this.#noted(`diff ${type}`, async () => {
      const request = new providerProto.DiffRequest();
      request.setId(id).setUrn(this.urn(type)).setOlds(this.#struct(olds, type)).setNews(this.#struct(news, type));
      const answer = await this.ask<InstanceType<typeof providerProto.DiffResponse>>((client, done) =>
        client.diff(request, done),
      );
      const changes = answer.getChanges() === providerProto.DiffResponse.DiffChanges.DIFF_SOME;
      if (this.providerKind.modern && changes && answer.getReplacesList().length === 0) {
        const ahead = new providerProto.UpdateRequest().setId(id).setUrn(this.urn(type)).setPreview(true);
        ahead.setOlds(request.getOlds()).setNews(request.getNews());
        await this.ask((client, done) => client.update(ahead, done));
      }
      return {
        changes,
        replaces: answer.getReplacesList(),
        deleteBeforeReplace: answer.getDeletebeforereplace(),
      };
    });
  }

  create(type: string, inputs: Properties): Promise<{ id: string; outputs: Properties }> {
    return this.#noted(`create ${type}`, async () => {
      const request = new providerProto.CreateRequest();
      request.setUrn(this.urn(type)).setProperties(this.#struct(inputs, type)).setTimeout(this.timeout);
      const answer = await this.ask<InstanceType<typeof providerProto.CreateResponse>>((client, done) =>
        client.create(request, done),
      );
      return { id: answer.getId(), outputs: this.#properties(answer.getProperties(), type) };
    });
  }

  read(
    type: string,
    id: string,
    state: Properties,
    lastInputs: Properties = {},
  ): Promise<{ id: string; outputs: Properties; inputs?: Properties }> {
    return this.#noted(`read ${type}`, async () => {
      const request = new providerProto.ReadRequest();
      request.setId(id).setUrn(this.urn(type)).setTimeout(this.timeout);
      request.setProperties(this.#struct(state, type)).setInputs(this.#struct(lastInputs, type));
      const answer = await this.ask<InstanceType<typeof providerProto.ReadResponse>>((client, done) =>
        client.read(request, done),
      );
      const inputs = answer.getInputs();
      const found = { id: answer.getId(), outputs: this.#properties(answer.getProperties(), type) };
      return inputs ? { ...found, inputs: this.#properties(inputs, type) } : found;
    });
  }

  update(type: string, id: string, olds: Properties, news: Properties): Promise<Properties> {
    return this.#noted(`update ${type}`, async () => {
      const request = new providerProto.UpdateRequest();
      request.setId(id).setUrn(this.urn(type)).setTimeout(this.timeout);
      request.setOlds(this.#struct(olds, type)).setNews(this.#struct(news, type));
      const answer = await this.ask<InstanceType<typeof providerProto.UpdateResponse>>((client, done) =>
        client.update(request, done),
      );
      return this.#properties(answer.getProperties(), type);
    });
  }

  /** Deletes what a later run's program does not declare: no resource was checked in the process of that run. */
  async destroy(type: string, id: string, state: Properties): Promise<void> {
    await this.restart();
    await this.delete(type, id, state);
  }

  /** Deletes in the run that is under way, whose program declares what was checked in it. */
  delete(type: string, id: string, state: Properties): Promise<void> {
    return this.#noted(`delete ${type}`, async () => {
      const request = new providerProto.DeleteRequest();
      request.setId(id).setUrn(this.urn(type)).setProperties(this.#struct(state, type)).setTimeout(this.timeout);
      await this.ask((client, done) => client.delete(request, done));
    });
  }

  /** Reads something of which nothing but its ID is known. */
  import(type: string, id: string) {
    return this.read(type, id, this.providerKind.given(type, this.urn(type), {}));
  }

  /** How each property would change, by property path. */
  async details(
    type: string,
    id: string,
    olds: Properties,
    news: Properties,
    oldInputs: Properties = {},
  ): Promise<Record<string, string>> {
    const request = new providerProto.DiffRequest();
    request
      .setId(id)
      .setUrn(this.urn(type))
      .setOlds(this.#struct(olds, type))
      .setNews(this.#struct(news, type))
      .setOldInputs(this.#struct(oldInputs, type));
    const answer = await this.ask<InstanceType<typeof providerProto.DiffResponse>>((client, done) =>
      client.diff(request, done),
    );
    const kinds = Object.entries(PropertyDiff.Kind);
    const found: Record<string, string> = {};
    answer.getDetaileddiffMap().forEach((detail, path) => {
      found[path] = kinds.find(([, kind]) => kind === detail.getKind())?.[0] ?? "";
    });
    return found;
  }

  /** The host's process. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Another process, as the next run has one. By default this one is killed; SIGINT ends it as engines do. */
  async restart(signal: "SIGKILL" | "SIGINT" = "SIGKILL"): Promise<void> {
    if (signal === "SIGINT") this.#needsProcess();
    await this.#end(signal);
    this.#started.engine = await bound(this.#engine); // each run has an engine
    if (usualPlace === "clones") emptyOf(this.folder, join(this.folder, ".state"));
    await this.#spawn();
  }

  #needsProcess(): void {
    if (this.providerKind.begin) throw new Error("this needs a process of its own: testInOwnProcess gives it one");
  }

  async #end(signal: "SIGKILL" | "SIGINT" = "SIGKILL"): Promise<void> {
    await Promise.resolve(this.#client?.close()); // in this process it waits for what is under way
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      child.kill(signal);
      await ended;
    }
  }

  /** Kills the host as a crash would. */
  async stop(): Promise<void> {
    for (const host of [this, ...this.#others]) await host.#end();
    this.#engine.forceShutdown();
    await rm(this.folder, { recursive: true, force: true });
  }

  urn(type: string): string {
    return `urn:pulumi:dev::tests::${this.providerKind.types}:${type}::${this.resource}`;
  }

  /** Notes how a call went, without the parts that differ between kinds of provider and between runs. */
  async #noted<Answer>(what: string, work: () => Promise<Answer>): Promise<Answer> {
    const note = (end: unknown): void => {
      if (!this.isTraced) return;
      const own = (name: string, value: unknown): unknown =>
        this.providerKind.own.includes(name) ? undefined : inClear(value);
      let text = JSON.stringify(end ?? null, own).replaceAll(this.folder, "<folder>");
      // A salt is another one each time, and with it all digests.
      if (text.includes('"salt":'))
        text = text.replaceAll(
          /"(salt|digest|fingerprint|ledger|(?:found|existing)(?=":"))":("[^"]*"|\{[^}]*\})/g,
          '"$1":"<salted>"',
        );
      for (const [pattern, word] of accidents) text = text.replaceAll(pattern, word);
      this.trace.push(`${what}: ${text}`);
    };
    try {
      const answer = await work();
      note(answer);
      return answer;
    } catch (error) {
      if (error instanceof InitFailed)
        error.properties = this.providerKind.seen(error.properties, what.replace(/.* /, ""));
      note(error instanceof InitFailed ? [error.id, error.properties, error.message] : String(error));
      throw error;
    }
  }

  #struct(properties: Properties, type: string): Struct {
    return struct(this.providerKind.sent(properties, type));
  }

  #properties(found: Struct | undefined, type: string): Properties {
    return this.providerKind.seen(javaScript(found), type);
  }

  /** Asks the provider something that has no method here. */
  ask<Answer>(
    start: (
      client: InstanceType<typeof providerService.ResourceProviderClient>,
      done: (error: grpc.ServiceError | null, answer: Answer) => void,
    ) => unknown,
  ): Promise<Answer> {
    const client = this.#client;
    if (!client) throw new Error("the host is not running");
    return new Promise((resolve, reject) => {
      start(client, (error, answer) => {
        if (error) reject(partial(error) ?? new Error(error.details));
        else resolve(answer);
      });
    });
  }
}

function partial(error: grpc.ServiceError): InitFailed | undefined {
  const [encoded] = error.metadata.get("grpc-status-details-bin");
  const details = Buffer.isBuffer(encoded) ? statusProto.Status.deserializeBinary(encoded).getDetailsList() : [];
  const [value] = details.map((detail) => detail.getValue_asU8());
  return value && new InitFailed(providerProto.ErrorResourceInitFailed.deserializeBinary(value));
}
