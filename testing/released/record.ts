import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync } from "node:zlib";
import { readOwnPackage } from "../../machine/ownPackage.ts";
import type { Project } from "../harness/project.ts";
import { providerKinds, programOf, recordedFolder, versions, type TestedKind } from "./recorded.ts";

const { version } = readOwnPackage();
const own = recordedFolder(version);

/**
 * Runs the program of the newest recording with a kind of provider from nothing, and keeps the state and the platform that it
 * leaves for the version of package.json.
 */
export async function record(providerKind: TestedKind): Promise<void> {
  if (!existsSync(own)) {
    cpSync(recordedFolder(versions().at(-1) ?? ""), own, {
      recursive: true,
      filter: (path) => !providerKinds.some((one) => path.endsWith(`/${one}`)),
    });
  }
  const project = await programOf(version, providerKind);
  try {
    await project.succeed("stack init dev --no-select");
    await project.succeed("up --yes --skip-preview");
    await keep(project, providerKind);
  } finally {
    await project.remove();
  }
}

async function keep(project: Project, providerKind: TestedKind): Promise<void> {
  const folder = join(own, providerKind);
  mkdirSync(folder, { recursive: true });
  const state: unknown = JSON.parse(await project.stateText(), withoutPlaces);
  writeFileSync(join(folder, "state.json"), `${JSON.stringify(state, undefined, 4)}\n`);
  const copy = join(project.folder, "platform.db");
  const database = new DatabaseSync(project.platform);
  database.exec(`VACUUM INTO '${copy}'`);
  database.close();
  writeFileSync(join(folder, "platform.db.gz"), gzipSync(readFileSync(copy), { level: 9 }));
}

/** Leaves out where a resource stands in the program: these are files of whoever recorded it. */
function withoutPlaces(key: string, value: unknown): unknown {
  return key === "sourcePosition" || key === "stackTrace" ? undefined : value;
}
