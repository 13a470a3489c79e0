import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../../emulator/index.ts";
import { createClient, type Client } from "../../../platform/client/index.ts";
import { MemberLists } from "../../../provider/people/members.ts";
import { toShownNames } from "../../../provider/pulumi/names.ts";
import { InProcessEngine, keyOf } from "../../../testing/harness/inProcessEngine.ts";
import { lookingContext } from "../../commands/platform.ts";
import type { Section } from "../../report/changeSet.ts";
import { CountingReads, drift, type Look } from "../../report/drift.ts";
import { type Declared, environmentsIn, readDeclaration } from "../../report/environments.ts";
import { toPlain } from "../../report/planner.ts";
import type { StateResource } from "../../report/state.ts";
import { Repository } from "../../report/testing/repository.ts";
import { writeFiles } from "../editor/writing.ts";
import { EnvironmentFiles } from "../placing.ts";
import { listItems, planPull, type Pulled } from "../pull.ts";
import { files } from "./pulledFiles.ts";

const login = { email: "admin@example.com", password: "correct-horse" };
const people = ["ada", "bob", "eve", "kay", "my.bot"].map((name) => `${name}@example.com`);

interface PullOptions {
  folder: string;
  entries: { name: string; file: string }[];
  foreign?: boolean;
  into?: string;
  waiting?: Section;
}

export function declarationIn(folder: string, file: string): Declared {
  const reading = readDeclaration(file, folder);
  if (!reading.declared) throw new Error(JSON.stringify(reading.problems));
  return reading.declared;
}

const statesOf = ({ state }: InProcessEngine): StateResource[] =>
  state
    .filter(({ urn }) => /index:(?!Environment::)\w+::/.test(urn))
    .map(({ urn, id, inputs, outputs }) => {
      const [kind = "", ...name] = keyOf(urn).split(" ");
      return { kind, name: name.join(" "), id, values: toShownNames(toPlain({ ...inputs, ...outputs })) };
    });

/** Looks at a platform, and plans what becomes of the files: a pull without its command. */
async function pullFrom(
  login: { endpoint: string; email: string; password: string },
  engine: InProcessEngine,
  { folder, entries, foreign = false, into, waiting = { compared: true, things: [] } }: PullOptions,
): Promise<Pulled & { look: Look }> {
  const client = createClient({ ...login, readOnly: true });
  try {
    const lists = { ttlMs: Number.MAX_SAFE_INTEGER };
    const reads = { client, members: new MemberLists(client, lists), tables: new CountingReads(client, lists) };
    const context = { ...lookingContext(reads, login, folder, new AbortController().signal), tables: reads.tables };
    const look = await drift(statesOf(engine), context, (text) => text, { changed: true, foreign });
    const files = new EnvironmentFiles(
      declarationIn(folder, "dev.yaml"),
      { name: "dev", file: "dev.yaml" },
      entries,
      into,
    );
    return { ...(await planPull(await listItems(look, files, waiting), files.declared)), look };
  } finally {
    await client.close();
  }
}

/** An environment that is applied to an emulator: each test begins there, with its files as they are committed. */
export class PullStage {
  emulator!: Emulator; // the hooks open it
  client!: Client;
  repository!: Repository;
  #engine!: InProcessEngine;
  #applied: InProcessEngine["state"] = [];

  /** Opens it before all tests of a file. */
  static begin(): PullStage {
    const stage = new PullStage();
    beforeAll(() => stage.#open());
    afterEach(() => stage.reset());
    afterAll(() => stage.#close());
    return stage;
  }

  async #open(): Promise<void> {
    const fields = { Code: "text", Name: "text", Size: "number" } as const;
    const users = people.map((email) => ({ email, id: email }));
    const odd = { Code: "text", constructor: "text", toString: "text", valueOf: "number" };
    const tables = {
      shared: { fields },
      own: { fields },
      inline: { fields },
      beside: { fields },
      odd: { fields: odd },
    };
    this.emulator = await createEmulator({ seed: { administrator: login, users, tables } });
    this.client = createClient({ endpoint: this.emulator.url, ...login });
    this.repository = new Repository(files);
    this.#engine = new InProcessEngine({ endpoint: this.emulator.url, ...login });
    await this.#engine.run(this.declared(), true);
    this.#applied = this.#engine.state;
    this.emulator.saveSnapshot("applied");
  }

  async #close(): Promise<void> {
    this.repository.remove();
    await this.client.close();
    await this.emulator.close();
  }

  reset(): void {
    this.emulator.loadSnapshot("applied");
    this.repository.git("checkout", "--quiet", "--", ".");
    this.repository.git("clean", "--quiet", "-d", "--force");
    this.#engine.state = this.#applied;
  }

  declared = (file = "dev.yaml", folder = this.repository.folder): Declared => declarationIn(folder, file);

  /** Brings the platform to what the files say now. */
  apply = (): Promise<unknown> => this.#engine.run(this.declared(), true);

  /** Looks, and plans what becomes of the files. */
  pull = ({
    folder = this.repository.folder,
    entries = environmentsIn(files["environments.yaml"]),
    ...options
  }: Partial<PullOptions> = {}): Promise<Pulled & { look: Look }> =>
    pullFrom({ endpoint: this.emulator.url, ...login }, this.#engine, { folder, entries, ...options });

  write = ({ files }: Pulled): Promise<void> => writeFiles(this.repository.folder, files);
  text = (file: string): string => readFileSync(join(this.repository.folder, file), "utf8");
  diff = (): string[] => changedLines(this.repository.git("diff", "--no-color", "--unified=0"));

  async rows(table: string): Promise<Map<string, string>> {
    const page = [{ skip: 0, limit: 1000 }];
    const { microAppRows } = await this.client.microappdata({ microAppID: table, searchFilter: page });
    return new Map(microAppRows.map((row) => [String(row["Code"]), row._id]));
  }

  async editRow(table: string, code: string, rowData: Record<string, unknown>): Promise<void> {
    const rowID = (await this.rows(table)).get(code);
    if (rowID !== undefined) await this.client.updatemicroapprow({ rowID, microAppID: table, rowData });
  }

  async removeRow(table: string, code: string): Promise<void> {
    const rowID = (await this.rows(table)).get(code);
    if (rowID !== undefined) await this.client.removemicroapprow({ rowID });
  }

  idOf(name: string): string {
    const found = statesOf(this.#engine).find(
      (each) => each.name === name && ["Team", "Organization"].includes(each.kind),
    );
    if (!found) throw new Error(name);
    return found.id;
  }

  /** After a pull the next run sends nothing, and the one after it has nothing to do. */
  async expectApplied(): Promise<void> {
    const since = this.emulator.lastCall();
    await this.#engine.run(this.declared(), true);
    expect(this.emulator.calls({ since, mutating: true })).toEqual([]);
    expect([...(await this.#engine.run(this.declared(), false))]).toEqual([]);
    expect((await this.pull()).items).toEqual([]);
  }
}

export const refusals = ({ items }: Pulled): string[] => items.flatMap(({ refused }) => refused ?? []);
const changedLines = (diff: string): string[] => diff.split("\n").filter((line) => /^[-+](?!--|\+\+)/.test(line));
