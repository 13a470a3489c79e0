// A provider plugin for tests: its platform is a JSON file, and every call is written to a log.
const { appendFileSync, mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } = require("node:fs");
const grpc = require("@grpc/grpc-js");
const { ResourceProviderService } = require("@pulumi/pulumi/proto/provider_grpc_pb.js");
const pb = require("@pulumi/pulumi/proto/provider_pb.js");
const { PluginInfo } = require("@pulumi/pulumi/proto/plugin_pb.js");
const { Empty } = require("google-protobuf/google/protobuf/empty_pb.js");
const { Struct } = require("google-protobuf/google/protobuf/struct_pb.js");

const [name] = process.argv.slice(2);
const cloudFile = process.env.CLOUD_FILE;
const signature = "4dabf18193072939515e22adb298388d";
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

function load() {
  try {
    return { items: {}, next: {}, ...JSON.parse(readFileSync(cloudFile, "utf8")) };
  } catch {
    return { items: {}, next: {} };
  }
}
/** Changes what is there, while no other process does. */
function change(work) {
  for (;;) {
    try {
      mkdirSync(`${cloudFile}.lock`);
      break;
    } catch {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
  try {
    const cloud = load();
    const made = work(cloud);
    const temporary = `${cloudFile}.${process.pid}`;
    writeFileSync(temporary, JSON.stringify(cloud));
    renameSync(temporary, cloudFile);
    return made;
  } finally {
    rmdirSync(`${cloudFile}.lock`);
  }
}

const sorted = (value) =>
  typeof value !== "object" || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(
        Object.keys(value)
          .sort()
          .map((key) => [key, sorted(value[key])]),
      );
const read = (struct) => sorted(struct?.toJavaScript() ?? {});
const write = (properties) => Struct.fromJavaScript(properties);
const nameOf = (request) => request.getUrn().split("::").at(-1);
let provider = "?";
function log(method, ...told) {
  if (process.env.PROV_LOG) appendFileSync(process.env.PROV_LOG, `${JSON.stringify([name, provider, method, ...told])}\n`);
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value) && !(signature in value);
const same = (a, b) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
/** Paths of what differs, as Pulumi writes them. */
function changes(olds, news, prefix = "", found = []) {
  for (const key of new Set([...Object.keys(olds), ...Object.keys(news)])) {
    const [old, now] = [olds[key], news[key]];
    if (same(old, now)) continue;
    const path = /^[\w-]+$/.test(key) && prefix === "" ? key : `${prefix}["${key}"]`;
    if (isObject(old) && isObject(now)) changes(old, now, path, found);
    else found.push([path, old === undefined ? "ADD" : now === undefined ? "DELETE" : "UPDATE"]);
  }
  return found;
}
function differing(found, replacing) {
  const answer = new pb.DiffResponse().setHasdetaileddiff(true);
  answer.setChanges(found.length > 0 ? pb.DiffResponse.DiffChanges.DIFF_SOME : pb.DiffResponse.DiffChanges.DIFF_NONE);
  answer.setDiffsList([...new Set(found.map(([path]) => path.split("[")[0]))]);
  answer.setReplacesList(replacing.filter((key) => found.some(([path]) => path === key)));
  for (const [path, kind] of found) {
    const full = replacing.includes(path) ? `${kind}_REPLACE` : kind;
    answer.getDetaileddiffMap().set(path, new pb.PropertyDiff().setKind(pb.PropertyDiff.Kind[full]));
  }
  return answer;
}
const checked = (inputs) => {
  const answer = new pb.CheckResponse().setInputs(write(inputs));
  for (const [key, value] of Object.entries(inputs)) {
    if (value === "bad") answer.addFailures(new pb.CheckFailure().setProperty(key).setReason(`${key} must not be bad`));
  }
  return answer;
};

const calls = {
  handshake(request) {
    log("handshake", process.argv.slice(3).length, request.getEngineAddress() === process.argv[3]);
    return new pb.ProviderHandshakeResponse().setAcceptSecrets(true).setAcceptResources(true);
  },
  getPluginInfo: () => new PluginInfo().setVersion("1.2.3"),
  checkConfig(request) {
    log("checkConfig", nameOf(request), read(request.getOlds()), read(request.getNews()));
    return checked(read(request.getNews()));
  },
  diffConfig(request) {
    const [olds, news] = [read(request.getOldInputs()), read(request.getNews())];
    log("diffConfig", nameOf(request), olds, news);
    return differing(changes(olds, news), ["account"]);
  },
  configure(request) {
    provider = nameOf(request);
    log("configure", read(request.getArgs()), sorted(Object.fromEntries(request.getVariablesMap().toObject())));
    return new pb.ConfigureResponse().setAcceptsecrets(true).setAcceptresources(true).setSupportspreview(true);
  },
  check(request) {
    const news = read(request.getNews());
    log("check", nameOf(request), read(request.getOlds()), news);
    return checked({ size: 1, ...news });
  },
  diff(request) {
    const [olds, news] = [read(request.getOldInputs()), read(request.getNews())];
    log("diff", nameOf(request), request.getId(), olds, news);
    return differing(changes(olds, news), ["kind"]).setDeletebeforereplace(news.first === true);
  },
  async create(request) {
    const inputs = read(request.getProperties());
    log("create", nameOf(request), request.getPreview(), inputs);
    const answer = new pb.CreateResponse().setRefreshBeforeUpdate(inputs.watch === true);
    if (request.getPreview()) return answer.setProperties(write({ ...inputs, serial: unknown }));
    if (inputs.slow) await new Promise((resolve) => setTimeout(resolve, inputs.slow));
    if (inputs.name === "explode") throw new Error("the platform says no");
    return change((cloud) => {
      const serial = (cloud.next[inputs.name] ?? 0) + 1;
      cloud.next[inputs.name] = serial;
      const id = `${inputs.name}-${serial}`;
      cloud.items[id] = inputs;
      return answer.setId(id).setProperties(write({ ...inputs, serial }));
    });
  },
  read(request) {
    log("read", nameOf(request), request.getId(), read(request.getProperties()), read(request.getInputs()));
    const found = load().items[request.getId()];
    if (!found) return new pb.ReadResponse();
    const serial = Number(request.getId().split("-").at(-1));
    return new pb.ReadResponse()
      .setId(request.getId())
      .setInputs(write(found))
      .setProperties(write({ ...found, serial }))
      .setRefreshBeforeUpdate(found.watch === true);
  },
  update(request) {
    const [olds, news] = [read(request.getOlds()), read(request.getNews())];
    log("update", nameOf(request), request.getPreview(), olds, news);
    const answer = new pb.UpdateResponse().setRefreshBeforeUpdate(news.watch === true);
    if (!request.getPreview()) change(({ items }) => (items[request.getId()] = news));
    return answer.setProperties(write({ ...news, serial: olds.serial }));
  },
  delete(request) {
    log("delete", nameOf(request), request.getId());
    change(({ items }) => delete items[request.getId()]);
    return new Empty();
  },
  invoke(request) {
    const asked = read(request.getArgs());
    log("invoke", request.getTok(), request.getPreview(), asked);
    if (asked.name === "explode") throw new Error("the platform says no");
    const answer = new pb.InvokeResponse();
    if (asked.name === "bad") {
      return answer.setFailuresList([new pb.CheckFailure().setProperty("name").setReason("name must not be bad")]);
    }
    const ids = Object.keys(load().items).filter((id) => id.startsWith(`${asked.name}-`));
    return answer.setReturn(write({ ids, asked }));
  },
  cancel() {
    log("cancel");
    return new Empty();
  },
};

const server = new grpc.Server();
const handlers = Object.entries(calls).map(([method, answer]) => [
  method,
  ({ request }, done) =>
    Promise.resolve()
      .then(() => answer(request))
      .then(
        (told) => done(null, told),
        (error) => done({ code: grpc.status.UNKNOWN, details: error.message }),
      ),
]);
server.addService(ResourceProviderService, Object.fromEntries(handlers));
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  process.stdout.write(`${port}\n`);
  console.log("what a plugin prints is not for the user");
});
process.on("SIGINT", () => {
  log("interrupted");
  process.exit(0);
});
const parent = process.ppid;
setInterval(() => process.ppid === parent || process.exit(1), 100).unref();
