import fc from "fast-check";
import { pending } from "../../cli/report/section.ts";
import { readDeclaration } from "../../cli/report/source.ts";
import { stateOf, type StackState } from "../../cli/report/state.ts";
import { codes, filesOf, people, tables, type Drawn } from "../../cli/report/testing/drawn.ts";
import { createEmulator, type Emulator, type LoggedCall } from "../../emulator/index.ts";
import { stateInClear } from "../../engine/index.ts";
import { createClient, type Client } from "../../platform/client/index.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { Project } from "../harness/project.ts";
import { predicted, sent, unforeseen, type Live } from "./foreseen.ts";

const account = { email: "admin@example.com", password: "correct-horse" };
const user = (email: string): string => email.slice(0, 3).toLowerCase();

const at = fc.nat({ max: 11 });

/** Manual changes: numbers choose the thing. */
export const drift = fc.record({
  kind: fc.constantFrom("editRow" as const, "removeRow" as const, "addRow" as const, "giveRole" as const),
  which: fc.tuple(at, at),
});
type Drift = typeof drift extends fc.Arbitrary<infer Drawn> ? Drawn : never;

export interface Step {
  environment: Drawn;
  drifts: readonly Drift[];
}

/** A project with an Environment that is edited and brought up, where each run is held against what was pending. */
export class Forecasts {
  readonly #emulator: Emulator;
  readonly #project: Project;
  readonly #client: Client;
  readonly #empty: string;
  #versions: Drawn[] = [];
  /** Things that may differ from the state since a manual change. */
  readonly #touched = new Set<string>();

  private constructor(emulator: Emulator, project: Project, empty: string) {
    this.#emulator = emulator;
    this.#project = project;
    this.#empty = empty;
    this.#client = createClient({ endpoint: emulator.url, ...account });
  }

  static async open(): Promise<Forecasts> {
    const users = people.map((email) => ({ email, id: user(email) }));
    const emulator = await createEmulator({ seed: { administrator: account, users, tables } });
    emulator.saveSnapshot("start");
    const project = await Project.running(
      'import { Environment } from "pulumi-microapps";\nnew Environment("environment", { file: "env.yaml" });\n',
      { "microapps:endpoint": emulator.url, "microapps:email": account.email, "microapps:password": account.password },
    );
    await project.succeed("stack init dev");
    return new Forecasts(emulator, project, await project.stateText());
  }

  async close(): Promise<void> {
    await this.#client.close();
    await endedCleanly(this.#project, this.#emulator);
  }

  /** A stack and a platform with nothing of ours. */
  async begin(): Promise<void> {
    this.#emulator.loadSnapshot("start");
    await this.#project.write(".pulumi/stacks/tests/dev.json", this.#empty);
    this.#versions = [];
    this.#touched.clear();
  }

  /** Differences between a run and its forecast. */
  async surprises({ environment, drifts }: Step): Promise<string[]> {
    this.#versions.push(environment);
    for (const [file, text] of Object.entries(filesOf(this.#versions))) await this.#project.write(file, text);
    for (const each of drifts) for (const place of await this.#byHand(each)) this.#touched.add(place);
    const { declared, problems } = readDeclaration("env.yaml", this.#project.folder);
    if (!declared) throw new Error(JSON.stringify(problems));
    const state = await this.#state();
    const section = await pending(state, declared);
    const live = await this.#live();
    const calls = await this.#up();
    const owners = [...state.resources, ...(await this.#state()).resources].filter(({ kind }) =>
      /^(Organization|Team)$/.test(kind),
    );
    const names = new Map(owners.map(({ id, name }) => [id, name.replace("environment/", "")]));
    const known = { ids: live.ids, names, people: new Map(people.map((email) => [user(email), email.toLowerCase()])) };
    return unforeseen(predicted(section, declared), sent(calls, known), { rows: live.rows, touched: this.#touched });
  }

  async #state(): Promise<StackState> {
    const environment = { ...process.env, ...this.#project.environment };
    return stateOf((await stateInClear(this.#project.folder, "dev", environment)).text);
  }

  async #up(): Promise<LoggedCall[]> {
    const since = this.#emulator.lastCall();
    await this.#project.succeed("up --yes --skip-preview");
    return this.#emulator.calls({ since, mutating: true });
  }

  /** The rows of the platform: table and code of each by its ID. */
  async #live(): Promise<Live> {
    const ids = new Map<string, string>();
    for (const microAppID of Object.keys(tables)) {
      const { microAppRows } = await this.#client.microappdata({
        microAppID,
        searchFilter: [{ skip: 0, limit: 1000 }],
      });
      for (const { _id, Code } of microAppRows) ids.set(_id, `${microAppID} ${String(Code)}`);
    }
    return { ids, rows: new Set(ids.values()) };
  }

  /** Makes a manual change if there is anything to change; returns the things that differ from the state now. */
  async #byHand({ kind, which: [first, second] }: Drift): Promise<string[]> {
    if (kind === "giveRole") return this.#giveRole(first, second);
    if (kind === "addRow") {
      const rowData = { Code: `by hand ${first}`, Name: "of others" };
      await this.#client.insertmicroapprow({ microAppID: "offices", rowData });
      return [];
    }
    const { ids } = await this.#live();
    // A row with links to it is edited and not removed: a removal would change the linking rows as well.
    const rows = [...ids].filter(
      ([, row]) => codes.includes(row.split(" ")[1] ?? "") && (kind === "editRow" || row.startsWith("offices")),
    );
    const [rowID, row] = rows[first % Math.max(rows.length, 1)] ?? [];
    if (rowID === undefined || row === undefined) return [];
    if (kind === "removeRow") await this.#client.removemicroapprow({ rowID });
    else
      await this.#client.updatemicroapprow({
        rowID,
        microAppID: row.split(" ")[0] ?? "",
        rowData: { Name: `by hand ${second}` },
      });
    return [row];
  }

  async #giveRole(first: number, second: number): Promise<string[]> {
    const teams = (await this.#state()).resources.filter(({ kind }) => kind === "Team");
    const team = teams[first % Math.max(teams.length, 1)];
    if (!team) return [];
    const { teamMembers } = await this.#client.teammembers({ teamIDs: [team.id] });
    const others = teamMembers.filter(({ email }) => email !== account.email);
    const { userID, email = "", role } = others[second % Math.max(others.length, 1)] ?? {};
    if (userID === undefined) return [];
    await this.#client.updateteammember({ teamID: team.id, userID, role: role === "admin" ? "member" : "admin" });
    return [`person ${email.toLowerCase()}`];
  }
}
