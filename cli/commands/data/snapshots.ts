import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createEmulator, type Emulator } from "../../../emulator/index.ts";
import { messageOf } from "../../../machine/failures.ts";
import { createClient } from "../../../provider/client/index.ts";
import { MemberLists } from "../../../provider/client/members/memberLists.ts";
import { CountingReads } from "../../changes/drift/countingReads.ts";
import type { Declared } from "../../changes/model/source.ts";
import type { PlatformOrganization } from "../../changes/sides/platformPeople.ts";
import { SideError, type ReadSide } from "../../changes/sides/sides.ts";
import { readPlatformSide, type ListedPlatform } from "../../changes/sides/snapshotSide.ts";
import { lookingContext } from "../lookingContext.ts";

/** Lists that are asked for once. */
const lists = { ttlMs: Number.MAX_SAFE_INTEGER };

/** Reads a snapshot's file by what another side declares. An emulator has it for as long. Throws a SideError. */
export async function readSnapshotSide(cwd: string, file: string, like: Declared): Promise<ReadSide> {
  const place = path.resolve(cwd, file);
  if (!existsSync(place)) throw new SideError(`there is no snapshot ${file}: name the file that one was saved to`);
  const folder = mkdtempSync(path.join(tmpdir(), "microapps-snapshot-"));
  try {
    const emulator = await createEmulator({
      snapshot: place,
      data: path.join(folder, "data.db"),
      readOnly: true,
    }).catch((error: unknown) => {
      throw new SideError(`snapshot:${file} can't be read: ${messageOf(error)}`);
    });
    try {
      return await readEmulator(emulator, like, { folder: cwd, shown: `snapshot:${file}` });
    } finally {
      await emulator.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readEmulator(
  emulator: Emulator,
  like: Declared,
  { folder, shown }: { folder: string; shown: string },
): Promise<ReadSide> {
  const session = emulator.signIn();
  if (!session) throw new SideError(`${shown} has no administrator who could read it`);
  const client = createClient({ endpoint: emulator.url, ...session, readOnly: true });
  try {
    const reads = { client, members: new MemberLists(client, lists), tables: new CountingReads(client, lists) };
    const settings = { endpoint: emulator.url, ...session };
    const context = lookingContext(reads, settings, folder, new AbortController().signal);
    const [{ organizations }, { tables }, { users }] = await Promise.all([
      list<{ organizations: PlatformOrganization[] }>(emulator, "organizations"),
      list<{ tables: ListedPlatform["tables"] }>(emulator, "tables"),
      list<{ users: { id: string; email: string }[] }>(emulator, "users"),
    ]);
    const administrator = users.find(({ id }) => id === session.userId)?.email;
    return await readPlatformSide({ context, organizations, tables, administrator }, like, shown);
  } finally {
    await client.close();
  }
}

/** Asks for a list that the interface has not. */
async function list<Answer>({ url, token }: Emulator, what: string): Promise<Answer> {
  const response = await fetch(`${url}/_emulator/${what}`, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new SideError(`the snapshot does not list its ${what}: status ${response.status}`);
  return (await response.json()) as Answer; // of the emulator in this process
}
