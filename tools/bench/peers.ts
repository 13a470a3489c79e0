import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { messageOf } from "../../machine/failures.ts";
import {
  BenchPlatform,
  BenchProject,
  figure,
  median,
  output,
  repository,
  run,
  timeWork,
  type Figure,
} from "./stage.ts";

// The same organization, teams and members by this package and by OpenTofu with a provider for any REST interface.

/** Resources that each tool works on at a time: OpenTofu's own default. */
const atOnce = 10;
const teams = 10;

interface People {
  /** By ID, with the description of each. */
  teams: Readonly<Record<string, string>>;
  members: readonly { team: string; userID: string; email: string }[];
}

const usersOf = (count: number): { id: string; email: string; password: string }[] =>
  Array.from({ length: count }, (_, at) => ({ id: `user${at}`, email: `u${at}@example.com`, password: "none" }));

/** @param changed with another description of one team */
const declare = (count: number, changed: boolean): People => ({
  teams: Object.fromEntries(
    Array.from({ length: teams }, (_, at) => [`team${at}`, changed && at === 0 ? "Another one" : "A team"]),
  ),
  members: usersOf(count).map(({ id, email }, at) => ({ team: `team${at % teams}`, userID: id, email })),
});

/** A tool, ready to bring people up on one platform. */
interface Peer {
  up: (people: People) => Promise<unknown>;
  down: () => Promise<unknown>;
  remove: () => Promise<void>;
}

/** This package with its own engine, and files with a roster for each team. */
async function rosters(platform: BenchPlatform): Promise<Peer> {
  const project = await BenchProject.make(platform, {});
  const parallel = ["--parallel", String(atOnce)];
  return {
    up: async (people) => {
      const rosterOf = (name: string): object => {
        const own = people.members.filter(({ team }) => team === name);
        const members: Record<string, string> = Object.fromEntries(own.map(({ email }) => [email, "member"]));
        return { members, maxRemovals: 1 };
      };
      const declared = Object.entries(people.teams).map(
        ([name, description]) => [name, { name, description, roster: rosterOf(name) }] as const,
      );
      const teams: Record<string, object> = Object.fromEntries(declared);
      const bench = { name: "Bench", teams };
      await project.write(JSON.stringify({ organizations: { bench } }), "dev.yaml");
      await project.up(...parallel);
    },
    down: () => project.run("destroy", "--yes", "--skip-preview", ...parallel),
    remove: () => project.remove(),
  };
}

const tofu = { module: "github.com/opentofu/opentofu", version: "v1.10.6", command: "./cmd/tofu", file: "tofu" };
const restapi = {
  module: "github.com/Mastercard/terraform-provider-restapi",
  version: "v1.20.0",
  command: ".",
  file: "terraform-provider-restapi",
};

/** Builds a Go module once, in a copy: what a module replaces counts only where it is built by itself. */
async function built({ module, version, command, file }: typeof tofu): Promise<string> {
  const folder = path.join(repository, "node_modules/.cache/peers", `${file}-${version}`);
  const program = path.join(folder, file);
  if (existsSync(program)) return program;
  const work = await mkdtemp(path.join(tmpdir(), "microapps-peer-"));
  try {
    process.stderr.write(`building ${module} ${version}, once …\n`);
    const downloaded = await output(["go", "mod", "download", "-json", `${module}@${version}`]);
    await cp((JSON.parse(downloaded) as { Dir: string }).Dir, work, { recursive: true });
    await output(["chmod", "-R", "u+w", work]);
    await mkdir(folder, { recursive: true });
    await output(["go", "build", "-mod=mod", "-o", program, command], work);
    return program;
  } catch (error) {
    throw new Error(`${module} ${version} can't be had here: ${messageOf(error)}`, { cause: error });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

type Calls = Record<"create" | "read" | "update" | "destroy", readonly [path: string, body: object]>;

/** A `restapi_object` whose calls are all POST, as the platform wants them. */
const object = (id: string, calls: Calls, dependsOn?: string): object => ({
  path: `/api/${calls.create[0]}`,
  object_id: id,
  data: JSON.stringify(calls.create[1]),
  ...Object.fromEntries(
    (["read", "update", "destroy"] as const).flatMap((verb) => [
      [`${verb}_path`, `/api/${calls[verb][0]}`],
      [`${verb}_data`, JSON.stringify(calls[verb][1])],
    ]),
  ),
  ...(dependsOn === undefined ? {} : { depends_on: [`restapi_object.${dependsOn}`] }),
});

function resources(people: People): Record<string, object> {
  const organizationID = "bench";
  const all: Record<string, object> = {
    organization: object(organizationID, {
      create: ["insertorganization", { organizationInfo: { _id: organizationID, name: "Bench" } }],
      read: ["readorganization", { organizationID }],
      update: ["updateorganization", { organizationID, organizationInfo: { name: "Bench" } }],
      destroy: ["deleteorganization", { organizationID }],
    }),
  };
  for (const [teamID, description] of Object.entries(people.teams)) {
    const info = { name: teamID, description };
    const calls: Calls = {
      create: ["insertteam", { teamInfo: { organizationID, _id: teamID, ...info } }],
      read: ["readteam", { teamID }],
      update: ["updateteam", { teamID, teamInfo: info }],
      destroy: ["deleteteam", { teamID }],
    };
    all[teamID] = object(teamID, calls, "organization");
  }
  for (const { team: teamID, userID } of people.members) {
    const calls: Calls = {
      create: ["insertteammembers", { teamIDs: [teamID], userIDs: [userID] }],
      read: ["readteammember", { teamID, userID }],
      update: ["updateteammember", { teamID, userID, role: "member" }],
      destroy: ["deleteteammember", { teamID, userID }],
    };
    all[userID] = object(`${teamID}-${userID}`, calls, teamID);
  }
  return all;
}

async function openTofu(platform: BenchPlatform): Promise<Peer> {
  const [program, provider] = [await built(tofu), await built(restapi)];
  const folder = await mkdtemp(path.join(tmpdir(), "microapps-peer-"));
  const settings = path.join(folder, "tofurc");
  const overrides = `dev_overrides { "mastercard/restapi" = ${JSON.stringify(path.dirname(provider))} }`;
  await writeFile(settings, `provider_installation {\n${overrides}\ndirect {}\n}\n`);
  const headers = await platform.session();
  const does = (word: string): Promise<unknown> =>
    run([program, word, "-auto-approve", "-no-color", `-parallelism=${atOnce}`], folder, {
      ...{ TF_CLI_CONFIG_FILE: settings, TF_IN_AUTOMATION: "1" },
    });
  return {
    up: async (people) => {
      const main = {
        terraform: { required_providers: { restapi: { source: "mastercard/restapi" } } },
        provider: {
          restapi: {
            ...{ uri: platform.url, headers },
            ...{ create_method: "POST", read_method: "POST", update_method: "POST", destroy_method: "POST" },
            ...{ create_returns_object: true, write_returns_object: true }, // without them it reads what it has just made
          },
        },
        resource: { restapi_object: resources(people) },
      };
      await writeFile(path.join(folder, "main.tf.json"), JSON.stringify(main));
      await does("apply");
    },
    down: () => does("destroy"),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Seconds and calls of each job, on a platform of its own that answers after a delay. */
async function measure(
  make: (platform: BenchPlatform) => Promise<Peer>,
  count: number,
  delay: number,
): Promise<{ seconds: number; calls: number }[]> {
  const platform = await BenchPlatform.start({}, usersOf(count));
  try {
    const peer = await make(platform);
    try {
      await platform.delay(delay);
      const jobs: [work: () => Promise<unknown>, times: number][] = [
        [() => peer.up(declare(count, false)), 1],
        [() => peer.up(declare(count, false)), 3],
        [() => peer.up(declare(count, true)), 1],
        [() => peer.down(), 1],
      ];
      const found: { seconds: number; calls: number }[] = [];
      for (const [work, times] of jobs) {
        const taken: number[] = [];
        let calls = 0;
        for (let time = 0; time < times; time++)
          calls = await platform.calls(async () => void taken.push(await timeWork(work)));
        found.push({ seconds: median(taken) / 1000, calls });
      }
      return found;
    } finally {
      await peer.remove();
    }
  } finally {
    await platform.stop();
  }
}

/** The jobs, and what each may take beside OpenTofu, where the platform is near and where it is far. */
const jobs = [
  { name: "first apply", near: 0.8, far: 0.8 },
  { name: "nothing changed", near: 0.5, far: 0.4 },
  { name: "one team changed", near: 0.8, far: 0.8 },
  { name: "taken down", near: 0.7, far: 0.7 },
];

/** Brings so many people up, beside OpenTofu on the same platform, near to it and 40 ms away. */
export async function measurePeers(count: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [delay, distance] of [
    [0, "near"],
    [40, "far"],
  ] as const) {
    const theirs = await measure(openTofu, count, delay);
    const ours = await measure(rosters, count, delay);
    for (const [at, job] of jobs.entries()) {
      const [one, other] = [ours[at], theirs[at]];
      if (!one || !other) continue;
      const told = `${one.seconds.toFixed(1)} s, ${one.calls} calls, to ${other.seconds.toFixed(1)} s, ${other.calls} calls`;
      const named = `${count} people as rosters, ${delay} ms a call, ${job.name}: time to that of OpenTofu ${tofu.version} with restapi ${restapi.version} (${told})`;
      figures.push(figure(named, one.seconds / other.seconds, "ratio", job[distance]));
    }
  }
  return figures;
}
