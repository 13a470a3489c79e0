import path from "node:path";
import { EngineError, type Terminal, Workspace } from "../../../../engine/index.ts";
import { readDeclared, type ProgramResources } from "../../doctor/declared.ts";
import type { Subject } from "../../doctor/subject.ts";
import type { SandboxNames, VerifyOptions } from "../options.ts";

/** Refuses a sandbox that a program of this project manages: either would undo changes of the other. */
export async function refuseManaged(
  { organizationID, tables }: SandboxNames,
  subject: Subject,
  options: VerifyOptions,
  terminal: Terminal,
): Promise<void> {
  for (const [stack, declared] of await programsOf(subject, options, terminal)) {
    const refuse = (what: string): never => {
      throw new EngineError(`nothing was sent: ${what}: a sandbox is nothing that a program manages`, 2);
    };
    if (declared.organizations.some(({ id }) => id === organizationID)) {
      refuse(`stack ${stack} manages organization ${organizationID ?? ""}`);
    }
    for (const [label, id] of Object.entries(tables)) {
      if (declared.tables.some(({ table }) => table === id)) {
        refuse(`stack ${stack} manages table ${id}, which is to be ${label} of the sandbox`);
      }
    }
  }
}

/** Resources of each stack of the project; nothing outside of a project. */
async function programsOf(
  { stack, declared }: Subject,
  { cwd }: VerifyOptions,
  { environment }: Terminal,
): Promise<[string, ProgramResources][]> {
  const own: [string, ProgramResources][] = stack === undefined ? [] : [[stack.name, declared]];
  const workspace = await Workspace.open({ cwd: path.resolve(cwd ?? "."), environment }).catch((error: unknown) => {
    if (error instanceof EngineError && stack === undefined) return undefined; // there is no project
    throw error;
  });
  if (!workspace) return own;
  const others = (await workspace.backend.stacks(workspace.project.name)).filter((name) => name !== stack?.name);
  for (const name of others) own.push([name, await declaredOf(workspace, name)]);
  return own;
}

async function declaredOf(workspace: Workspace, name: string): Promise<ProgramResources> {
  try {
    return await readDeclared(await workspace.stack(name));
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw new EngineError(
      `nothing was sent: whether stack ${name} manages the sandbox is not known: ${error.message}`,
      2,
    );
  }
}

/** Refuses an organization that is called as one of the program is, which may be about to adopt it. */
export function refuseNamesake(name: string, declaredNames: readonly string[], id: string): void {
  if (!declaredNames.includes(name)) return;
  throw new EngineError(
    `nothing was changed: organization ${id} is called as one that an Environment file declares: a sandbox is nothing that a program manages`,
    2,
  );
}
