import grpc from "@grpc/grpc-js";
import type { handleUnaryCall, StatusObject } from "@grpc/grpc-js";
import pluginProto from "@pulumi/pulumi/proto/plugin_pb.js";
import providerService from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { createRequire } from "node:module";
import { join } from "node:path";
import { messageOf } from "../../machine/failures.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { DynamicProviders, type TypeProvider } from "../../provider/pulumi/dynamic.ts";
import { UnfinishedFailure, describeUnfinished } from "../../provider/pulumi/plugin/failures.ts";
import { type LogEntry, reporterThrough } from "../../provider/pulumi/progress.ts";
import { type Properties, unknownValue } from "../../provider/pulumi/properties.ts";
import { findOwnResource } from "../../provider/pulumi/providerKinds.ts";
import { secretSignature, signature } from "../../provider/pulumi/secrets.ts";
import { callsOf, type HostedCalls } from "./calls.ts";

const name = "__provider";

/** The providers of dynamic resources in the engine's own process: they answer as the host of @pulumi/pulumi does. */
export function hostDynamic(engine: string, log: (entry: LogEntry) => void): HostedCalls {
  const report = reporterThrough(log);
  const providers = new DynamicProviders({ engine, report, isHosted: true });
  const end = (): Promise<void> => {
    providers.stop();
    providers.operations.ended();
    return providers.operations.close();
  };
  const call = callsOf(providerService.ResourceProviderService, handlersOf(providers));
  return { call, departs: (request) => providers.departs(valuesOf(request.getProperties())), end };
}

type Handlers = grpc.UntypedServiceImplementation;
type Find = (properties: Properties) => TypeProvider;

/** The answers of Pulumi's host, by the names of gRPC. What is missing here it does not implement either. */
function handlersOf(providers: DynamicProviders): Handlers {
  const made = new Map<string, TypeProvider>();
  const find = (properties: Properties): TypeProvider => {
    const code = String(properties[name]);
    const known = made.get(code) ?? providers.named(findOwnResource(code) ?? "");
    made.set(code, known);
    return known;
  };
  return { ...general(providers), ...comparing(find), ...acting(find) };
}

function general(providers: DynamicProviders): Handlers {
  return {
    configure: answers((request: pb.ConfigureRequest) => {
      const entries = Object.entries(valuesOf(request.getArgs())).filter(([key]) => key !== name);
      const settings = Object.fromEntries(entries.map(([key, value]) => [key, revealed(value)]));
      providers.host = { get: (key) => settings[key], rawConfig: settings };
      providers.operations.began(request.getUrn());
      return new providerProto.ConfigureResponse().setAcceptsecrets(false);
    }),
    getPluginInfo: answers(() => new pluginProto.PluginInfo().setVersion(versionOfSdk())),
    cancel: answers(() => {
      providers.stop();
      return new emptyProto.Empty();
    }),
    invoke: answers((request: pb.InvokeRequest) => {
      throw new Error(`unknown function ${request.getTok()}`);
    }),
  };
}

function comparing(find: Find): Handlers {
  const declared = (news: Properties, olds: Properties): TypeProvider =>
    find(news[name] === unknownValue ? olds : news);
  return {
    check: answers(async (request: pb.CheckRequest) => {
      const [olds, news] = [valuesOf(request.getOlds()), valuesOf(request.getNews())];
      const { inputs, failures } = await declared(news, olds).check(olds, news);
      const listed = failures.map(({ property, reason }) =>
        new providerProto.CheckFailure().setProperty(property).setReason(reason),
      );
      return new providerProto.CheckResponse().setInputs(structOf(inputs, news)).setFailuresList(listed);
    }),
    diff: answers(async (request: pb.DiffRequest) => {
      const [olds, news] = [valuesOf(request.getOlds()), valuesOf(request.getNews())];
      const found = await declared(news, olds).diff(request.getId(), olds, news);
      const { DIFF_SOME, DIFF_NONE } = providerProto.DiffResponse.DiffChanges;
      return new providerProto.DiffResponse()
        .setChanges(found.changes ? DIFF_SOME : DIFF_NONE)
        .setReplacesList(found.replaces)
        .setDeletebeforereplace(found.deleteBeforeReplace);
    }),
  };
}

function acting(find: Find): Handlers {
  return {
    create: answers(async (request: pb.CreateRequest) => {
      const news = valuesOf(request.getProperties());
      const { id, outs } = await find(news).create(news);
      return new providerProto.CreateResponse().setId(id).setProperties(structOf(outs, news));
    }),
    read: answers(async (request: pb.ReadRequest) => {
      const [state, inputs] = [valuesOf(request.getProperties()), valuesOf(request.getInputs())];
      const known = Object.keys(state).length === 0 ? inputs : state;
      const found = await find(known).read(request.getId(), known);
      const answer = new providerProto.ReadResponse().setId(found.id).setProperties(structOf(found.props, known));
      return found.inputs ? answer.setInputs(structOf(found.inputs, known)) : answer;
    }),
    update: answers(async (request: pb.UpdateRequest) => {
      const [olds, news] = [valuesOf(request.getOlds()), valuesOf(request.getNews())];
      const { outs } = await find(news).update(request.getId(), olds, news);
      return new providerProto.UpdateResponse().setProperties(structOf(outs, news));
    }),
    delete: answers(async (request: pb.DeleteRequest) => {
      const state = valuesOf(request.getProperties());
      await find(state).delete(request.getId(), state);
      return new emptyProto.Empty();
    }),
  };
}

/** The version of the SDK in the program's folder, whose host would answer. */
function versionOfSdk(): string {
  const { version } = createRequire(join(process.cwd(), "package.json"))("@pulumi/pulumi/package.json") as {
    version: string;
  };
  return version;
}

const answers =
  <Request, Answer>(work: (request: Request) => Answer | Promise<Answer>): handleUnaryCall<Request, Answer> =>
  ({ request }, done) => {
    Promise.resolve(request)
      .then(work)
      .then(
        (answer) => done(null, answer),
        (error: unknown) => done(statusOf(error)),
      );
  };

const valuesOf = (struct: Struct | undefined): Properties => struct?.toJavaScript() ?? {};

/** Properties with the provider of the resource. */
const structOf = (properties: Properties = {}, { [name]: provider }: Properties): Struct =>
  structProto.Struct.fromJavaScript(
    Object.assign(properties, { [name]: provider }) as unknown as Record<string, never>,
  );

const revealed = (value: unknown): unknown =>
  isObject(value) && value[signature] === secretSignature ? value["value"] : value;

/** The answer of Pulumi's host to an error; one with `id` is of a thing that exists all the same. */
function statusOf(error: unknown): Partial<StatusObject> {
  const { id, properties = {} } = error as { id?: string; properties?: Properties };
  const details = messageOf(error);
  if (!id) return { code: grpc.status.UNKNOWN, details };
  const outputs = structProto.Struct.fromJavaScript(properties as Record<string, never>);
  const unfinished = { id, outputs, refreshBeforeUpdate: false };
  return describeUnfinished(new UnfinishedFailure(details, unfinished), details);
}
