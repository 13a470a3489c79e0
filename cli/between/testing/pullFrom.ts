import { createClient } from "../../../platform/client/index.ts";
import type { ClientOptions } from "../../../platform/client/options.ts";
import { MemberLists } from "../../../provider/people/members.ts";
import { toShownNames } from "../../../provider/pulumi/providerKinds.ts";
import type { ResourceContext } from "../../../provider/resources/resource.ts";
import { type InProcessEngine, keyOf } from "../../../testing/harness/inProcessEngine.ts";
import { lookingContext } from "../../commands/lookingContext.ts";
import type { Section } from "../../report/changeSet.ts";
import { CountingReads, drift, type Look } from "../../report/drift.ts";
import { toPlain } from "../../report/planner.ts";
import { readDeclaration, type Declared } from "../../report/source.ts";
import type { StateResource } from "../../report/state.ts";
import { EnvironmentFiles } from "../placing.ts";
import { listItems, planPull, type Pulled } from "../pull.ts";

export interface PullOptions {
  folder: string;
  /** The environment, whose file is called by it. */
  name: string;
  entries: { name: string; file: string }[];
  foreign?: boolean;
  into?: string;
  waiting?: Section;
}

/** A platform and the account that reads it. */
export interface Login {
  endpoint: string;
  email: string;
  password: string;
  /** Known behaviour of the platform. */
  profile?: ClientOptions["profile"];
}

export function declarationIn(folder: string, file: string): Declared {
  const reading = readDeclaration(file, folder);
  if (!reading.declared) throw new Error(JSON.stringify(reading.problems));
  return reading.declared;
}

export const statesOf = ({ state }: InProcessEngine): StateResource[] =>
  state
    .filter(({ urn }) => /index:(?!Environment::)\w+::/.test(urn))
    .map(({ urn, id, inputs, outputs }) => {
      const [kind = "", ...name] = keyOf(urn).split(" ");
      return { kind, name: name.join(" "), id, values: toShownNames(toPlain({ ...inputs, ...outputs })) };
    });

/** Does work with a context that reads a platform, and changes nothing. */
export async function reading<Result>(
  { profile, ...login }: Login,
  folder: string,
  work: (context: ResourceContext & { tables: CountingReads }) => Promise<Result>,
): Promise<Result> {
  const client = createClient({ ...login, ...(profile ? { profile } : {}), readOnly: true });
  try {
    const lists = { ttlMs: Number.MAX_SAFE_INTEGER };
    const tables = new CountingReads(client, lists);
    const reads = { client, members: new MemberLists(client, lists), tables };
    return await work({ ...lookingContext(reads, login, folder, new AbortController().signal), tables });
  } finally {
    await client.close();
  }
}

/** Looks at a platform, and plans what becomes of the files. */
export const pullFrom = (
  login: Login,
  engine: InProcessEngine,
  { folder, name, entries, foreign = false, into, waiting = { compared: true, things: [] } }: PullOptions,
): Promise<Pulled & { look: Look }> =>
  reading(login, folder, async (context) => {
    const look = await drift(statesOf(engine), context, (text) => text, { changed: true, foreign });
    const file = `${name}.yaml`;
    const files = new EnvironmentFiles(declarationIn(folder, file), { name, file }, entries, into);
    return { ...(await planPull(await listItems(look, files, waiting), files.declared)), look };
  });
