import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import grpc from "@grpc/grpc-js";
import engineService from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb.js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import providerService from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import statusProto from "@pulumi/pulumi/proto/status_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";

type Properties = Record<string, unknown>;
const require = createRequire(import.meta.url);
const { Struct } = structProto;

/** A partial failure as it comes over the wire. */
export class InitFailed extends Error {
  readonly id: string;
  readonly properties: Properties;
  constructor(id: string, properties: Properties, reasons: string[]) {
    super(reasons.join("; "));
    this.id = id;
    this.properties = properties;
  }
}

/** The official dynamic-provider host of @pulumi/pulumi as an engine uses it, in a project folder of its own. */
export class DynamicHost {
  /** Project folder: sources, intents and data of an emulator are found here. */
  readonly folder: string;
  /** What the provider told, as `severity: text`; live status lines are left out. */
  readonly told: string[] = [];
  /** Live status lines. */
  readonly statuses: string[] = [];
  /** What the host printed. */
  printed = "";
  readonly #engine: grpc.Server;
  #child: ChildProcess | undefined;
  #client: InstanceType<typeof providerService.ResourceProviderClient> | undefined;

  private constructor(folder: string, engine: grpc.Server) {
    this.folder = folder;
    this.#engine = engine;
  }

  static async start(config: Readonly<Record<string, string>>): Promise<DynamicHost> {
    const folder = await mkdtemp(join(tmpdir(), "microapps-host-"));
    await symlink(join(import.meta.dirname, "../../node_modules"), join(folder, "node_modules"));
    const engine = new grpc.Server();
    const host = new DynamicHost(folder, engine);
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
    const port = await new Promise<number>((resolve, reject) => {
      engine.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) => {
        if (error) reject(error);
        else resolve(bound);
      });
    });
    await host.#spawn(`127.0.0.1:${port}`, config);
    return host;
  }

  async #spawn(engine: string, config: Readonly<Record<string, string>>): Promise<void> {
    const child = spawn(process.execPath, [require.resolve("@pulumi/pulumi/cmd/dynamic-provider"), engine], {
      cwd: this.folder,
      env: { ...process.env, PULUMI_NODEJS_PROJECT: "tests", PULUMI_NODEJS_STACK: "dev" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    const lines = createInterface({ input: child.stdout });
    child.stderr.on("data", (data: Buffer) => (this.printed += data.toString()));
    const [port] = (await once(lines, "line")) as [string]; // the event's only argument
    lines.on("line", (line) => (this.printed += `${line}\n`));
    this.#client = new providerService.ResourceProviderClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
    const request = new providerProto.ConfigureRequest();
    request.setArgs(Struct.fromJavaScript({ ...config }));
    await this.#ask((client, done) => client.configure(request, done));
  }

  /** Checks inputs; problems come as `property: reason`. */
  async check(
    type: string,
    news: Properties,
    olds: Properties = {},
  ): Promise<{ inputs: Properties; problems: string[] }> {
    const request = new providerProto.CheckRequest();
    request
      .setUrn(urnOf(type))
      .setOlds(struct(olds))
      .setNews(struct(this.#given(type, news)));
    const answer = await this.#ask<InstanceType<typeof providerProto.CheckResponse>>((client, done) =>
      client.check(request, done),
    );
    const problems = answer.getFailuresList().map((failure) => `${failure.getProperty()}: ${failure.getReason()}`);
    return { inputs: javaScript(answer.getInputs()), problems };
  }

  async diff(type: string, id: string, olds: Properties, news: Properties) {
    const request = new providerProto.DiffRequest();
    request.setId(id).setUrn(urnOf(type)).setOlds(struct(olds)).setNews(struct(news));
    const answer = await this.#ask<InstanceType<typeof providerProto.DiffResponse>>((client, done) =>
      client.diff(request, done),
    );
    return {
      changes: answer.getChanges() === providerProto.DiffResponse.DiffChanges.DIFF_SOME,
      replaces: answer.getReplacesList(),
      deleteBeforeReplace: answer.getDeletebeforereplace(),
    };
  }

  async create(type: string, inputs: Properties): Promise<{ id: string; outputs: Properties }> {
    const request = new providerProto.CreateRequest();
    request.setUrn(urnOf(type)).setProperties(struct(inputs));
    const answer = await this.#ask<InstanceType<typeof providerProto.CreateResponse>>((client, done) =>
      client.create(request, done),
    );
    return { id: answer.getId(), outputs: javaScript(answer.getProperties()) };
  }

  async read(
    type: string,
    id: string,
    state: Properties,
  ): Promise<{ id: string; outputs: Properties; inputs?: Properties }> {
    const request = new providerProto.ReadRequest();
    request.setId(id).setUrn(urnOf(type)).setProperties(struct(state));
    const answer = await this.#ask<InstanceType<typeof providerProto.ReadResponse>>((client, done) =>
      client.read(request, done),
    );
    const inputs = answer.getInputs();
    const found = { id: answer.getId(), outputs: javaScript(answer.getProperties()) };
    return inputs ? { ...found, inputs: javaScript(inputs) } : found;
  }

  async update(type: string, id: string, olds: Properties, news: Properties): Promise<Properties> {
    const request = new providerProto.UpdateRequest();
    request.setId(id).setUrn(urnOf(type)).setOlds(struct(olds)).setNews(struct(news));
    const answer = await this.#ask<InstanceType<typeof providerProto.UpdateResponse>>((client, done) =>
      client.update(request, done),
    );
    return javaScript(answer.getProperties());
  }

  async delete(type: string, id: string, state: Properties): Promise<void> {
    const request = new providerProto.DeleteRequest();
    request.setId(id).setUrn(urnOf(type)).setProperties(struct(state));
    await this.#ask((client, done) => client.delete(request, done));
  }

  /** The host's process. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Kills the host as an engine that ends its providers does, or as a crash would. */
  async stop(): Promise<void> {
    this.#client?.close();
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    this.#engine.forceShutdown();
    await rm(this.folder, { recursive: true, force: true });
  }

  #given(type: string, news: Properties): Properties {
    const provider = `exports.handler=()=>require("pulumi-microapps/dynamic").handler("${type}")`;
    return { resourceUrn: urnOf(type), ...news, __provider: provider };
  }

  #ask<Answer>(
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

const urnOf = (type: string): string => `urn:pulumi:dev::tests::pulumi-nodejs:dynamic/microapps:${type}::it`;

// JSON as the wire has it: without undefined.
const struct = (properties: Properties) =>
  Struct.fromJavaScript(JSON.parse(JSON.stringify(properties)) as Record<string, never>);

const javaScript = (found: InstanceType<typeof Struct> | undefined): Properties => found?.toJavaScript() ?? {};

function partial(error: grpc.ServiceError): InitFailed | undefined {
  const [encoded] = error.metadata.get("grpc-status-details-bin");
  if (!Buffer.isBuffer(encoded)) return undefined;
  const [detail] = statusProto.Status.deserializeBinary(encoded).getDetailsList();
  if (!detail) return undefined;
  const failed = providerProto.ErrorResourceInitFailed.deserializeBinary(detail.getValue_asU8());
  return new InitFailed(failed.getId(), javaScript(failed.getProperties()), failed.getReasonsList());
}
