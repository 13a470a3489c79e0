import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { environmentsIn } from "../../cli/changes/base/environments.ts";
import { CountingReads } from "../../cli/changes/drift/countingReads.ts";
import { drift, type Look } from "../../cli/changes/drift/drift.ts";
import type { Section } from "../../cli/changes/model/changeSet.ts";
import { readDeclaration, type Declared } from "../../cli/changes/model/source.ts";
import { LiveFindings } from "../../cli/changes/pull/findings.ts";
import { listItems } from "../../cli/changes/pull/items.ts";
import { Layout } from "../../cli/changes/pull/layout.ts";
import { planPull, type Pulled } from "../../cli/changes/pull/pull.ts";
import { Repository } from "../../cli/changes/testing/repository.ts";
import { lookingContext } from "../../cli/commands/lookingContext.ts";
import { writeFiles } from "../../cli/edits/writing.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../provider/client/index.ts";
import { MemberLists } from "../../provider/client/members/memberLists.ts";
import { InProcessEngine } from "./inProcessEngine.ts";
import { files } from "./pulledFiles.ts";

const login = { email: "admin@example.com", password: "correct-horse" };
const people = ["ada", "bob", "eve", "kay", "my.bot"].map((name) => `${name}@example.com`);

interface Options {
  foreign?: boolean;
  into?: string;
  waiting?: Section;
  folder?: string;
  entries?: { name: string; file: string }[];
}

/** An environment that is applied to an emulator: each test begins there, with its files as they are committed. */
export class PullStage {
  emulator!: Emulator; // the hooks open it
  client!: Client;
  repository!: Repository;
  #engine!: InProcessEngine;
  #applied: InProcessEngine["state"] = new Map();

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
    const tables = { shared: { fields }, own: { fields }, inline: { fields }, beside: { fields } };
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
    this.#engine.state = new Map(this.#applied);
  }

  declared(file = "dev.yaml", folder = this.repository.folder): Declared {
    const reading = readDeclaration(file, folder);
    if (!reading.declared) throw new Error(JSON.stringify(reading.problems));
    return reading.declared;
  }

  #states() {
    return [...this.#engine.state].map(([key, { kind, id, outputs }]) => ({
      kind,
      name: key.slice(kind.length + 1),
      id,
      values: outputs,
    }));
  }

  /** Looks, and plans what becomes of the files. */
  async pull({
    foreign = false,
    into,
    waiting = { compared: true, things: [] },
    folder = this.repository.folder,
    entries = environmentsIn(files["environments.yaml"]).entries,
  }: Options = {}): Promise<Pulled & { look: Look }> {
    const reader = createClient({ endpoint: this.emulator.url, ...login, readOnly: true });
    try {
      const lists = { ttlMs: Number.MAX_SAFE_INTEGER };
      const tables = new CountingReads(reader, lists);
      const members = new MemberLists(reader, lists);
      const settings = { endpoint: this.emulator.url, ...login };
      const signal = new AbortController().signal;
      const context = {
        ...lookingContext({ client: reader, members, tables }, settings, folder, signal),
        tables,
      };
      const findings = new LiveFindings(foreign);
      const look = await drift(this.#states(), context, (text) => text, findings);
      const layout = new Layout(this.declared("dev.yaml", folder), { name: "dev", file: "dev.yaml" }, entries, into);
      return { ...(await planPull(await listItems(findings, layout, waiting), layout.declared)), look };
    } finally {
      await reader.close();
    }
  }

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
    const found = this.#states().find((each) => each.name === name && ["Team", "Organization"].includes(each.kind));
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
export const changedLines = (diff: string): string[] =>
  diff.split("\n").filter((line) => /^[-+](?!--|\+\+)/.test(line));
