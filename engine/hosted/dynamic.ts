import type { handleUnaryCall, StatusObject, UntypedServiceImplementation } from "@grpc/grpc-js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { messageOf } from "../../machine/failures.ts";
import { statusCodes } from "../../machine/statusCodes.ts";
import type { Departure } from "../events.ts";
import { isObject } from "../values/json.ts";
import { secretSignature, signature } from "../values/plain.ts";
import { unknownId } from "../values/urns.ts";
import { callsOf, type HostedCalls } from "./calls.ts";

const name = "__provider";

type Properties = Record<string, unknown>;

/** A provider of dynamic resources, as the host of @pulumi/pulumi calls it. Property values are plain, secrets in clear. */
interface DynamicProvider {
  check: (
    olds: Properties,
    news: Properties,
  ) => Promise<{ inputs: Properties; failures: { property: string; reason: string }[] }>;
  diff: (
    id: string,
    olds: Properties,
    news: Properties,
  ) => Promise<{ changes: boolean; replaces: string[]; deleteBeforeReplace: boolean }>;
  create: (inputs: Properties) => Promise<{ id: string; outs: Properties }>;
  read: (id: string, state: Properties) => Promise<{ id: string; props?: Properties; inputs?: Properties }>;
  update: (id: string, olds: Properties, news: Properties) => Promise<{ outs: Properties }>;
  delete: (id: string, state: Properties) => Promise<void>;
}

/** A thing that exists although its create or update failed. */
interface Unfinished {
  id: string;
  outputs: Struct;
  refreshBeforeUpdate: boolean;
}

/** The providers of dynamic resources in this process; whoever runs the engine hands them in. */
export interface DynamicProviders {
  /** Takes the configuration that the provider of this URN has. */
  configure: (settings: Properties, urn: string | undefined) => void;
  /** The provider whose code this is. Throws where there is none. */
  of: (code: string) => DynamicProvider;
  /** What becomes of what a deletion is about. */
  departs: (properties: Properties) => Promise<Departure | undefined>;
  /** The error of a thing that exists all the same, as gRPC carries it. */
  describeUnfinished: (unfinished: Unfinished, details: string) => Promise<Partial<StatusObject>>;
  /** Ends what is under way. */
  stop: () => void;
  /** Ends the run in order. */
  end: () => Promise<void>;
}

/** The providers of dynamic resources in the engine's own process: they answer as the host of @pulumi/pulumi does. */
export function hostDynamic(providers: DynamicProviders): HostedCalls {
  const call = callsOf(handlersOf(providers));
  const departs = (request: pb.DeleteRequest) => providers.departs(valuesOf(request.getProperties()));
  return { call, departs, end: () => providers.end() };
}

type Answers = <Request, Answer>(
  work: (request: Request) => Answer | Promise<Answer>,
) => handleUnaryCall<Request, Answer>;
type Handlers = UntypedServiceImplementation;
type Find = (properties: Properties) => DynamicProvider;

/** The answers of Pulumi's host, by the names of gRPC. What is missing here it does not implement either. */
function handlersOf(providers: DynamicProviders): Handlers {
  const made = new Map<string, DynamicProvider>();
  const find = (properties: Properties): DynamicProvider => {
    const code = String(properties[name]);
    const known = made.get(code) ?? providers.of(code);
    made.set(code, known);
    return known;
  };
  const answers: Answers =
    (work) =>
    ({ request }, done) => {
      Promise.resolve(request)
        .then(work)
        .then(
          (answer) => done(null, answer),
          async (error: unknown) => done(await statusOf(error, providers)),
        );
    };
  return { ...general(answers, providers), ...comparing(answers, find), ...acting(answers, find) };
}

function general(answers: Answers, providers: DynamicProviders): Handlers {
  return {
    configure: answers((request: pb.ConfigureRequest) => {
      const entries = Object.entries(valuesOf(request.getArgs())).filter(([key]) => key !== name);
      const settings = Object.fromEntries(entries.map(([key, value]) => [key, revealed(value)]));
      providers.configure(settings, request.getUrn());
      return new providerProto.ConfigureResponse().setAcceptsecrets(false);
    }),
    cancel: answers(() => {
      providers.stop();
      return new emptyProto.Empty();
    }),
    invoke: answers((request: pb.InvokeRequest) => {
      throw new Error(`unknown function ${request.getTok()}`);
    }),
  };
}

function comparing(answers: Answers, find: Find): Handlers {
  const declared = (news: Properties, olds: Properties): DynamicProvider =>
    find(news[name] === unknownId ? olds : news);
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

function acting(answers: Answers, find: Find): Handlers {
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

const valuesOf = (struct: Struct | undefined): Properties => struct?.toJavaScript() ?? {};

/** Properties with the provider of the resource. */
const structOf = (properties: Properties = {}, { [name]: provider }: Properties): Struct =>
  structProto.Struct.fromJavaScript(
    Object.assign(properties, { [name]: provider }) as unknown as Record<string, never>,
  );

const revealed = (value: unknown): unknown =>
  isObject(value) && value[signature] === secretSignature ? value["value"] : value;

/** The answer of Pulumi's host to an error; one with `id` is of a thing that exists all the same. */
async function statusOf(error: unknown, { describeUnfinished }: DynamicProviders): Promise<Partial<StatusObject>> {
  const { id, properties = {} } = error as { id?: string; properties?: Properties };
  const details = messageOf(error);
  if (!id) return { code: statusCodes.UNKNOWN, details };
  const outputs = structProto.Struct.fromJavaScript(properties as Record<string, never>);
  return describeUnfinished({ id, outputs, refreshBeforeUpdate: false }, details);
}
