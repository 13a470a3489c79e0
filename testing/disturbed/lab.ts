import { readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Fault } from "../../emulator/platform/faults.ts";
import type { EndpointName } from "../../platform/contract/endpoints.ts";
import * as testedKinds from "../harness/kinds.ts";
import { Stage as Platform } from "../harness/stage.ts";
import { faults, type Case, type Course, type Incident, type Stage } from "./cases.ts";
import { Deployment, EngineKilled, type Kept } from "./deployment.ts";
import { foreignRows, platform, program, type Declared } from "./program.ts";

/** The platform and the state where a stage begins. */
interface Start {
  snapshot: string;
  state: Map<string, Kept>;
}

/** Tables of which a call that was lost may leave one more, or one less: what nobody can know, see DESIGN.md §3. */
const uncertain: ReadonlySet<string> = new Set(["files", "contents", "notifications", "pushes", "apps"]);

const patience = { timeout: 2, look: 5 };

/** One provider with a platform of its own, on which one case after the other is tried. */
class Lab {
  readonly providerKind: Case["providerKind"];
  readonly #stage: Platform;
  readonly #files: Server;
  readonly #programs: Record<"first" | "changed", Declared[]>;
  readonly #starts = new Map<Stage, Start>();
  /** Rows that each table gains when a program is applied, by program. */
  readonly #outcomes = new Map<string, Map<string, number>>();
  readonly courses = new Map<string, Course>();

  private constructor(providerKind: Case["providerKind"], stage: Platform, files: Server) {
    this.providerKind = providerKind;
    this.#stage = stage;
    this.#files = files;
    const base = addressOf(files);
    this.#programs = { first: program("first", base), changed: program("changed", base) };
  }

  /** Sets up a platform and a provider, and goes through all stages once without any fault. */
  static async open(providerKind: Case["providerKind"]): Promise<Lab> {
    const files = createServer((_request, response) =>
      response.writeHead(200, { "content-type": "image/png" }).end("bytes"),
    );
    await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
    // Lists of bare user IDs are asked about further.
    const memberForm = providerKind === "dynamic" ? "userIDs" : "objects";
    const settings = { memberForm, generationSeconds: 0, allowedHosts: [new URL(addressOf(files)).host] };
    const stage = await Platform.set({ ...platform, settings }, {}, testedKinds[providerKind]);
    const lab = new Lab(providerKind, stage, files);
    await lab.#survey();
    return lab;
  }

  async close(): Promise<void> {
    this.#files.close();
    this.#files.closeAllConnections();
    await this.#stage.clear();
  }

  /** Tries a case and returns its problems, empty when all is well. `reached` is true when the incident happened. */
  async try({ stage, incident }: Case): Promise<{ problems: string[]; reached: boolean }> {
    const { emulator, host } = this.#stage;
    const deployment = await this.#begin(stage);
    const before = emulator.lastCall();
    const failure = await this.#suffer(deployment, stage, incident);
    const reached =
      incident.kind === "unsaved" ? failure !== "" : emulator.calls({ since: before }).some((call) => call.fault);
    emulator.setFaults();
    const problems: string[] = [];
    if (/\n\s+at |correct-horse|key-of-the-operator|undefined/.test(failure)) problems.push(`said: ${failure}`);
    try {
      const version = stage === "update" ? "changed" : "first";
      // Forgotten things are generated and sent again.
      const times = (name: string): number => (stage === "destroy" && !deployment.state.has(name) ? 2 : 1);
      const [apps, sendings] = [times("atlas"), times("welcome")];
      await host.restart();
      // An up of dynamic resources believes the state, and a delete whose answer was lost is still in it.
      if (stage === "destroy" && !host.providerKind.modern) await deployment.refresh();
      await persist(() => deployment.up(this.#programs[version]), this.#stage);
      problems.push(...(await this.#judge(deployment, version, { apps, sendings })));
      await deployment.destroy();
      const left = this.#counts();
      for (const [table, count] of left) {
        if (count !== 0 && !uncertain.has(table) && table !== "users") {
          problems.push(`${table}: ${count} are left after a destroy`);
        }
      }
    } catch (error) {
      problems.push(String(error));
    }
    if (problems.length > 0 && failure !== "") problems.push(`(at first: ${failure})`);
    return { problems, reached };
  }

  async #survey(): Promise<void> {
    const { emulator, client, host } = this.#stage;
    for (const [microAppID, rowData] of Object.entries(foreignRows)) {
      await client.insertmicroapprow({ microAppID, rowData });
    }
    emulator.saveSnapshot("start");
    this.#starts.set("up", { snapshot: "start", state: new Map() });
    const first = new Deployment(host);
    await this.#record("up", first, () => first.up(this.#programs.first));
    this.#outcomes.set("first", this.#counts());
    emulator.saveSnapshot("made");
    for (const stage of ["update", "refresh", "destroy"] as const) {
      this.#starts.set(stage, { snapshot: "made", state: new Map(first.state) });
      const deployment = await this.#begin(stage);
      await this.#record(stage, deployment, () => this.#perform(deployment, stage));
      if (stage === "update") this.#outcomes.set("changed", this.#counts());
    }
  }

  async #record(stage: Stage, deployment: Deployment, work: () => Promise<void>): Promise<void> {
    const since = this.#stage.emulator.lastCall();
    deployment.saves = Number.MAX_SAFE_INTEGER;
    await work();
    const steps = Number.MAX_SAFE_INTEGER - deployment.saves;
    deployment.saves = undefined;
    const calls: EndpointName[] = this.#stage.emulator.calls({ since }).map(({ endpoint }) => endpoint);
    this.courses.set(`${this.providerKind} ${stage}`, { calls, steps });
  }

  /** Puts platform, provider and journal to where a stage begins. */
  async #begin(stage: Stage): Promise<Deployment> {
    const start = this.#starts.get(stage);
    if (!start) throw new Error(`the ${stage} has no start`);
    const { emulator, host } = this.#stage;
    emulator.setFaults();
    emulator.loadSnapshot(start.snapshot);
    for (const file of (await this.#stage.journal()).files) await rm(file);
    await host.restart();
    return new Deployment(host, start.state);
  }

  #perform(deployment: Deployment, stage: Stage): Promise<void> {
    if (stage === "refresh") return deployment.refresh();
    if (stage === "destroy") return deployment.destroy();
    return deployment.up(this.#programs[stage === "update" ? "changed" : "first"]);
  }

  /** Runs a stage while something goes wrong; returns its error, empty when it succeeded. */
  async #suffer(deployment: Deployment, stage: Stage, incident: Incident): Promise<string> {
    const { emulator, host } = this.#stage;
    const since = emulator.lastCall();
    emulator.setFaults({ faults: planOf(incident) });
    host.timeout = incident.kind === "fault" && incident.fault.startsWith("time-out") ? patience.timeout : 0;
    deployment.saves = incident.kind === "unsaved" ? incident.after : undefined;
    const over = new AbortController();
    const ended = this.#perform(deployment, stage).then(
      () => "",
      (error: unknown) => (error instanceof EngineKilled ? "killed" : String(error)),
    );
    void ended.then(() => over.abort());
    while (incident.kind === "kill" && !over.signal.aborted) {
      await pause(patience.look);
      if (emulator.calls({ since }).some(({ fault }) => fault)) {
        if (host.pid !== undefined) process.kill(host.pid, "SIGKILL");
        break;
      }
    }
    const failure = await ended;
    host.timeout = 0;
    deployment.saves = undefined;
    return failure;
  }

  /**
   * Lists differences from an undisturbed run.
   * @param most how often the app may have been generated, and the notification been sent for the same triggers
   */
  async #judge(
    deployment: Deployment,
    version: "first" | "changed",
    most: { apps: number; sendings: number },
  ): Promise<string[]> {
    const { emulator } = this.#stage;
    const problems: string[] = [];
    const since = emulator.lastCall();
    await this.#stage.host.restart(); // a preview is a run of its own: it knows nothing of what the up renewed
    const steps = await deployment.preview(this.#programs[version]);
    if (steps.length > 0) problems.push(`the preview is not empty: ${steps.join(", ")}`);
    await deployment.refresh();
    const after = await deployment.preview(this.#programs[version]);
    if (after.length > 0) problems.push(`the preview after a refresh is not empty: ${after.join(", ")}`);
    const sent = emulator.calls({ since, mutating: true }).map(({ endpoint }) => endpoint);
    if (sent.length > 0) problems.push(`preview and refresh sent ${sent.join(", ")}`);

    const { lines } = await this.#stage.journal();
    if (lines.length > 0) problems.push(`${lines.length} lines of the journal are left`);

    const wanted = this.#outcomes.get(version) ?? new Map<string, number>();
    const found = this.#counts();
    for (const table of new Set([...wanted.keys(), ...found.keys()])) {
      const [is, ought] = [found.get(table) ?? 0, wanted.get(table) ?? 0];
      const wrong = table === "apps" ? is > most.apps || is === 0 : !uncertain.has(table) && is !== ought;
      if (wrong) problems.push(`${table}: ${is} instead of ${ought}`);
      const sent = table === "notifications" || table === "pushes";
      if (sent && is > most.sendings * ought) problems.push(`${table}: ${is} instead of ${ought}`);
    }
    for (const { table, changed, removed } of emulator.differences("start")) {
      if (changed.length + removed.length > 0) problems.push(`${table} of others: ${[...changed, ...removed].join()}`);
    }
    return problems;
  }

  #counts(): Map<string, number> {
    return new Map(this.#stage.emulator.differences("start").map(({ table, added }) => [table, added.length]));
  }
}

const addressOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server's

function planOf(incident: Incident): Fault[] {
  if (incident.kind === "unsaved") return [];
  const { after } = incident;
  if (incident.kind === "outage")
    return [
      { kind: "reset", commit: true, after, count: 1 },
      { kind: "reset", after },
    ];
  if (incident.kind === "kill") return [{ kind: "timeout", after, count: 1, commit: incident.commit }];
  const fault = { ...faults[incident.fault], endpoint: incident.endpoint, after };
  return [incident.once ? { ...fault, count: 1 } : fault];
}

/** Messages that stop a run until a person has looked. */
const questions = {
  app: /a generation of this app was started at \S+ and its answer never arrived, so it may exist/,
  notification: /whether the notification to \S+ was sent at \S+ is not known/,
};

/** Runs up until it succeeds, as a person does: it may fail with each question once, and with nothing else. */
async function persist(up: () => Promise<void>, stage: Platform): Promise<void> {
  const asked = new Set<string>();
  for (;;) {
    try {
      await up();
      return;
    } catch (error) {
      const said = String(error);
      const [question] = Object.entries(questions).find(([, words]) => words.test(said)) ?? [];
      if (question === undefined || asked.has(question)) throw error;
      asked.add(question);
      if (question === "app") await lookForApp(said, stage);
    }
  }
}

/** Does what the message asks for: writes the app's link into its line where it was made, and deletes the line where it was not. */
async function lookForApp(said: string, { emulator, host }: Platform): Promise<void> {
  const [, path = ""] = /write its link as "link" into its line of (\S+);/.exec(said) ?? [];
  const app = emulator
    .differences("start")
    .find(({ table }) => table === "apps")
    ?.added.at(-1);
  const link = `https://apps.example.com/workspace/apps/${app ?? ""}`;
  const lines = (await readFile(path, "utf8")).split("\n").flatMap((line) => {
    if (!line.includes('"GeneratedApp"')) return [line];
    return app === undefined ? [] : [JSON.stringify({ ...(JSON.parse(line) as object), link })]; // written by the provider
  });
  await writeFile(path, lines.join("\n"));
  await host.restart();
}

type Found = Awaited<ReturnType<Lab["try"]>> & { seconds: number };

/** Labs for each kind of provider, side by side: most of a case's time is waiting before a call is repeated. */
export class Workshop {
  readonly #labs: readonly Lab[];
  readonly courses: ReadonlyMap<string, Course>;

  private constructor(labs: readonly Lab[]) {
    this.#labs = labs;
    this.courses = new Map(labs.flatMap(({ courses }) => [...courses]));
  }

  /** @param places labs for each kind of provider */
  static async open(places: number): Promise<Workshop> {
    const opening = Array.from({ length: places }, () => [Lab.open("dynamic"), Lab.open("plugin")]);
    return new Workshop(await Promise.all(opening.flat()));
  }

  /** Tries each case, and reports its result at once. */
  async tryAll(cases: readonly Case[], tell: (one: Case, found: Found) => void): Promise<void> {
    const waiting = Map.groupBy(cases, ({ providerKind }) => providerKind);
    const work = async (lab: Lab): Promise<void> => {
      const own = waiting.get(lab.providerKind) ?? [];
      for (let one = own.shift(); one; one = own.shift()) {
        const start = performance.now();
        const found = await lab.try(one);
        tell(one, { ...found, seconds: (performance.now() - start) / 1000 });
      }
    };
    await Promise.all(this.#labs.map(work));
  }

  async close(): Promise<void> {
    await Promise.all(this.#labs.map((lab) => lab.close()));
  }
}
