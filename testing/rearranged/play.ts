import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "../../platform/client/index.ts";
import { Deployment } from "../disturbed/deployment.ts";
import type { Declared } from "../disturbed/program.ts";
import type { TestedKind } from "../harness/providerHost.ts";
import { Stage } from "../harness/stage.ts";
import { danglingIn, declarationsOf, membersOn, ownersOf, platform, rowsOn } from "./declarations.ts";
import { foreign, start, type Model } from "./model.ts";
import { edited, type Edit } from "./rearrangements.ts";

/** The provider is killed at a call, before or after it is carried out. */
export interface Kill {
  after: number;
  commit: boolean;
}

export interface Step {
  edits: readonly Edit[];
  kill: Kill | undefined;
}

/** A program that is edited and brought up again and again, by an engine of which only the order of its calls is left. */
export class Play {
  readonly #stage: Stage;
  readonly #providerKind: TestedKind;
  #deployment: Deployment;
  #model: Model = start;

  private constructor(stage: Stage, providerKind: TestedKind) {
    this.#stage = stage;
    this.#providerKind = providerKind;
    this.#deployment = new Deployment(stage.host);
  }

  static async open(providerKind: TestedKind): Promise<Play> {
    const stage = await Stage.set(platform, {}, providerKind);
    const { client, emulator } = stage;
    const rowData = { Code: foreign, Name: `Name of ${foreign}`, Note: "theirs" };
    const { rowID } = await client.insertmicroapprow({ microAppID: "regions", rowData });
    await client.insertmicroapprow({
      microAppID: "offices",
      rowData: { ...rowData, Region: { crossAppRowID: rowID } },
    });
    emulator.saveSnapshot("foreign");
    const play = new Play(stage, providerKind);
    await play.#deployment.up(play.#declared(false));
    emulator.saveSnapshot("start");
    play.#first = new Map(play.#deployment.state);
    return play;
  }

  #first: Deployment["state"] = new Map();

  close(): Promise<void> {
    return this.#stage.clear();
  }

  /** Goes through the steps from the beginning, and throws when something is not as it must be. */
  async run(steps: readonly Step[]): Promise<void> {
    this.#stage.emulator.setFaults();
    this.#stage.emulator.loadSnapshot("start");
    this.#deployment = new Deployment(this.#stage.host, this.#first);
    this.#model = start;
    for (const step of steps) await this.#take(step);
  }

  get #client(): Client {
    return this.#stage.client;
  }

  #declared(adopt: boolean): Declared[] {
    return declarationsOf(this.#model, this.#providerKind, adopt);
  }

  async #take({ edits, kill }: Step): Promise<void> {
    const last = this.#model;
    const before = await rowsOn(this.#client);
    this.#model = edits.reduce(edited, last);
    const dangling = danglingIn(this.#model);
    await this.#stage.host.restart();
    if (dangling.length > 0) {
      await this.#refused(dangling);
      this.#model = last; // whoever made the edit takes it back
      await this.#stage.host.restart();
    }
    const since = this.#stage.emulator.lastCall();
    let adopt = false;
    if (kill) await this.#killed(kill);
    try {
      await this.#previewedAndUp(adopt);
    } catch (error) {
      if (!this.#needsAdoption(last, error)) throw error;
      this.#keeps(last, before, await rowsOn(this.#client), "refused");
      adopt = true;
      await this.#stage.host.restart();
      await this.#previewedAndUp(adopt);
    }
    await this.#judge(last, before, since, adopt);
  }

  /** Runs a preview and an up, which must take the same steps. */
  async #previewedAndUp(adopt: boolean): Promise<void> {
    const declared = this.#declared(adopt);
    const planned = await this.#deployment.preview(declared);
    await this.#stage.host.restart(); // a preview and an up are two runs
    await this.#deployment.up(declared);
    same("the steps of up", this.#deployment.steps.toSorted(), planned.toSorted());
  }

  /** A program whose links would lead nowhere is refused, by its preview or else by its up. */
  async #refused(dangling: readonly string[]): Promise<void> {
    try {
      await this.#deployment.preview(this.#declared(true));
      await this.#deployment.up(this.#declared(true));
    } catch {
      return;
    }
    throw new Error(`up ended well with links to rows that leave: ${dangling.join(", ")}`);
  }

  /** A row that has moved to another resource and changed may be refused: its editor can't be known. */
  #needsAdoption(last: Model, error: unknown): boolean {
    const [before, now] = [ownersOf(last), ownersOf(this.#model)];
    const isMoved = (row: string): boolean => before.get(row)?.seed !== now.get(row)?.seed;
    const isBoth = [...now].some(([row, { text }]) => {
      const was = before.get(row);
      return was !== undefined && isMoved(row) && was.text !== text;
    });
    return isBoth && String(error).includes("adopt: true");
  }

  async #killed({ after, commit }: Kill): Promise<void> {
    const { emulator, host } = this.#stage;
    const since = emulator.lastCall();
    emulator.setFaults({ faults: [{ kind: "timeout", after, count: 1, commit }] });
    const over = new AbortController();
    const ended = this.#deployment
      .up(this.#declared(false))
      .catch(() => undefined)
      .finally(() => over.abort());
    while (!over.signal.aborted) {
      await pause(5);
      if (!emulator.calls({ since }).some(({ fault }) => fault)) continue;
      if (host.pid !== undefined) process.kill(host.pid, "SIGKILL");
      break;
    }
    await ended;
    emulator.setFaults();
    await host.restart();
  }

  /** Checks everything that must hold after an up. */
  async #judge(last: Model, before: Rows, since: number, adopt: boolean): Promise<void> {
    const now = await rowsOn(this.#client);
    const wanted = new Map([...ownersOf(this.#model)].map(([row, { text }]) => [row, text]));
    wanted.set(`regions ${foreign}`, "theirs").set(`offices ${foreign}`, `theirs → ${foreign}`);
    same("rows", listed([...now].map(([row, { text }]) => [row, text])), listed([...wanted]));
    this.#keeps(last, before, now, "brought up");
    for (const { table, changed, removed } of this.#stage.emulator.differences("foreign")) {
      same(`${table} of others`, [...changed, ...removed], []);
    }
    for (const [team, members] of this.#model.teams) {
      const id = this.#deployment.state.get(team)?.id ?? "";
      const declared = [...members.values()].map(({ email, role }) => `${email} ${role}`).toSorted();
      same(`members of ${team}`, await membersOn(this.#client, id, "admin@example.com"), declared);
    }
    this.#removesNobody(last, since);
    await this.#stage.host.restart(); // the next run of an engine
    same("the preview", await this.#deployment.preview(this.#declared(adopt)), []);
    await this.#deployment.refresh();
    same("the preview after a refresh", await this.#deployment.preview(this.#declared(adopt)), []);
  }

  /** Rows that were declared and still are keep their IDs, wherever the program can know. */
  #keeps(last: Model, before: Rows, now: Rows, when: string): void {
    const [owned, owns] = [ownersOf(last), ownersOf(this.#model)];
    for (const [row, { id }] of before) {
      const [was, is] = [owned.get(row), owns.get(row)];
      if (!is && !row.endsWith(foreign)) continue;
      // Without an SDK that announces the next seed, a moved row may be made again; it must exist all the same.
      const mayBeNew = this.#providerKind.modern && was?.seed !== is?.seed && this.#model.seeds.has(was?.seed ?? "");
      const found = now.get(row)?.id;
      if (found === id || (mayBeNew && found !== undefined)) continue;
      throw new Error(`${row} was ${id} and is ${found ?? "gone"}, when ${when}`);
    }
  }

  /** No person whom the program before and this one declare in a team was taken out on the way. */
  #removesNobody(last: Model, since: number): void {
    for (const { request } of this.#stage.emulator.calls({ since, endpoint: "deleteteammember" })) {
      const isIn = ({ teams }: Model): boolean =>
        [...teams].some(
          ([team, members]) =>
            this.#deployment.state.get(team)?.id === request["teamID"] &&
            [...members.values()].some(({ email }) => email === request["userID"]), // the platform's users have their addresses as IDs
        );
      if (isIn(last) && isIn(this.#model)) throw new Error(`was taken out on the way: ${JSON.stringify(request)}`);
    }
  }
}

type Rows = Awaited<ReturnType<typeof rowsOn>>;

const listed = (entries: readonly (readonly [string, string])[]): string[] =>
  entries.map(([row, text]) => `${row}: ${text}`).toSorted();

function same(what: string, found: readonly string[], wanted: readonly string[]): void {
  if (found.join("\n") === wanted.join("\n")) return;
  throw new Error(`${what}: ${found.join("; ") || "nothing"}, and not ${wanted.join("; ") || "nothing"}`);
}
