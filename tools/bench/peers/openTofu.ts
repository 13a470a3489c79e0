import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { messageOf } from "../../../machine/failures.ts";
import { session, type BenchPlatform } from "../platform.ts";
import { output, run } from "../project.ts";
import { curl } from "./curl.ts";
import { atOnce, NotHere, type Peer, type People, type PeerRows, table } from "./structure.ts";

const tofu = { module: "github.com/opentofu/opentofu", version: "v1.10.6", command: "./cmd/tofu", file: "tofu" };
const restapi = {
  module: "github.com/Mastercard/terraform-provider-restapi",
  version: "v1.20.0",
  command: ".",
  file: "terraform-provider-restapi",
};

const cache = path.join(import.meta.dirname, "../../../../node_modules/.cache/peers");

/** Builds a Go module once, in a copy: what a module replaces counts only where it is built by itself. */
async function built({ module, version, command, file }: typeof tofu): Promise<string> {
  const folder = path.join(cache, `${file}-${version}`);
  const program = path.join(folder, file);
  if (existsSync(program)) return program;
  const work = await mkdtemp(path.join(tmpdir(), "microapps-peer-"));
  try {
    process.stderr.write(`building ${module} ${version}, once …\n`);
    const downloaded = await output(["go", "mod", "download", "-json", `${module}@${version}`]);
    const { Dir } = JSON.parse(downloaded) as { Dir: string };
    await cp(Dir, work, { recursive: true });
    await output(["chmod", "-R", "u+w", work]);
    await mkdir(folder, { recursive: true });
    await output(["go", "build", "-mod=mod", "-o", program, command], work);
    return program;
  } catch (error) {
    throw new NotHere(`${module} ${version}: ${messageOf(error)}`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** A `restapi_object` whose calls are all POST, as the platform wants them. */
const object = (
  id: string,
  calls: Record<"create" | "read" | "update" | "destroy", readonly [path: string, body: object]>,
  dependsOn: readonly string[] = [],
): object => ({
  path: calls.create[0],
  object_id: id,
  data: JSON.stringify(calls.create[1]),
  read_path: calls.read[0],
  read_data: JSON.stringify(calls.read[1]),
  update_path: calls.update[0],
  update_data: JSON.stringify(calls.update[1]),
  destroy_path: calls.destroy[0],
  destroy_data: JSON.stringify(calls.destroy[1]),
  ...(dependsOn.length > 0 ? { depends_on: dependsOn.map((name) => `restapi_object.${name}`) } : {}),
});

function resources({ organization, teams, members }: People): Record<string, object> {
  const organizationID = organization;
  const all: Record<string, object> = {
    organization: object(organizationID, {
      create: ["/api/insertorganization", { organizationInfo: { _id: organizationID, name: "Bench" } }],
      read: ["/api/readorganization", { organizationID }],
      update: ["/api/updateorganization", { organizationID, organizationInfo: { name: "Bench" } }],
      destroy: ["/api/deleteorganization", { organizationID }],
    }),
  };
  for (const [teamID, description] of Object.entries(teams)) {
    const info = { name: teamID, description };
    all[teamID] = object(
      teamID,
      {
        create: ["/api/insertteam", { teamInfo: { organizationID, _id: teamID, ...info } }],
        read: ["/api/readteam", { teamID }],
        update: ["/api/updateteam", { teamID, teamInfo: info }],
        destroy: ["/api/deleteteam", { teamID }],
      },
      ["organization"],
    );
  }
  for (const { team: teamID, userID } of members) {
    all[userID] = object(
      `${teamID}-${userID}`,
      {
        create: ["/api/insertteammembers", { teamIDs: [teamID], userIDs: [userID] }],
        read: ["/api/readteammember", { teamID, userID }],
        update: ["/api/updateteammember", { teamID, userID, role: "member" }],
        destroy: ["/api/deleteteammember", { teamID, userID }],
      },
      [teamID],
    );
  }
  return all;
}

/** OpenTofu in a folder of its own, with a provider that was built here. */
async function peer<Structure>(
  name: string,
  provider: string | undefined,
  main: (structure: Structure) => object,
): Promise<Peer<Structure>> {
  const program = await built(tofu);
  const folder = await mkdtemp(path.join(tmpdir(), "microapps-peer-"));
  const overrides = provider ? `"mastercard/restapi" = ${JSON.stringify(path.dirname(provider))}` : "";
  await writeFile(
    path.join(folder, "tofurc"),
    `provider_installation {\ndev_overrides { ${overrides} }\ndirect {}\n}\n`,
  );
  await mkdir(path.join(folder, "ids"));
  const environment = { TF_CLI_CONFIG_FILE: path.join(folder, "tofurc"), TF_IN_AUTOMATION: "1" };
  const tofuDoes = (...words: string[]): Promise<unknown> =>
    run([program, ...words, "-auto-approve", "-no-color", `-parallelism=${atOnce}`], folder, environment);
  return {
    name: `OpenTofu ${tofu.version}, ${name}`,
    up: async (structure) => {
      await writeFile(path.join(folder, "main.tf.json"), JSON.stringify(main(structure)));
      await tofuDoes("apply");
    },
    down: () => tofuDoes("destroy"),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** OpenTofu with a provider for any REST interface, both built from their modules. */
export async function openTofu(platform: BenchPlatform): Promise<Peer<People>> {
  const headers = await session(platform);
  return peer(`restapi ${restapi.version}`, await built(restapi), (people) => ({
    terraform: { required_providers: { restapi: { source: "mastercard/restapi" } } },
    provider: {
      restapi: {
        uri: platform.url,
        headers,
        ...{ create_method: "POST", read_method: "POST", update_method: "POST", destroy_method: "POST" },
        ...{ create_returns_object: true, write_returns_object: true }, // without them it reads what it has just made
      },
    },
    resource: { restapi_object: resources(people) },
  }));
}

/** OpenTofu with a command for each row: restapi sends no ID that the platform chose. A changed row is another one. */
export async function openTofuCommands(platform: BenchPlatform): Promise<Peer<PeerRows>> {
  const headers = await session(platform);
  const row = (Code: string, Name: string): object => {
    const body = JSON.stringify({ microAppID: table.name, rowData: { Code, Name } });
    const kept = `ids/${Code}`;
    const insert = curl(platform.url, headers, "insertmicroapprow", body, `| sed 's/.*"rowID":"//; s/".*//' > ${kept}`);
    const remove = curl(platform.url, headers, "removemicroapprow", `{"rowID":"'"$(cat ${kept})"'"}`);
    return {
      triggers_replace: [Name],
      provisioner: [{ "local-exec": { command: insert } }, { "local-exec": { when: "destroy", command: remove } }],
    };
  };
  return peer("terraform_data with curl", undefined, (rows) => ({
    resource: {
      terraform_data: Object.fromEntries(Object.entries(rows).map(([code, name]) => [code, row(code, name)])),
    },
  }));
}
