import { afterAll, beforeAll, beforeEach, describe, expect } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changeSet, type ChangeSet } from "../../cli/changes/model/changeSet.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { readApproval, type ApprovedRun } from "../../provider/approval/approved.ts";
import { sealDigest, type Seal } from "../../provider/approval/seal.ts";
import { signatureOf } from "../../provider/approval/signature.ts";
import { createClient, type Client } from "../../provider/client/index.ts";
import { testInLong, testThrough } from "../harness/drawn.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { freshFolder, Project, repository, type Ended } from "../harness/project.ts";
import { environment, programs, rows } from "./approvalFiles.ts";

const login = { email: "admin@example.com", password: "correct-horse" };
const key = "a key that the apply job alone knows";

/** The seal of the one environment. */
const sealOf = (set: ChangeSet): Seal => {
  const seal = set.environments[0]?.seal;
  if (!seal || "why" in seal) throw new Error("there is no seal");
  return seal;
};

describe.each(["dynamic", "plugin"] as const)("with the %s provider", (providerKind) => {
  const test = testThrough(providerKind);
  let project: Project;
  let emulator: Emulator;
  let client: Client;
  let outside: string;
  let state: string;
  // A program may do otherwise without a change of its own.
  const program = `${programs[providerKind].replace('"dev.yaml"', 'process.env.OTHER || "dev.yaml"')}
if (process.env.MORE) new Organization("evil", { name: "Evil" });
`;
  const files = { "index.js": program, "dev.yaml": environment, "regions.csv": rows };

  beforeAll(async () => {
    const fields = { Code: "text", Name: "text" } as const;
    const tables = { regions: { fields }, offices: { fields } };
    emulator = await createEmulator({ seed: { administrator: login, tables } });
    client = createClient({ endpoint: emulator.url, ...login });
    const given = Object.entries({ endpoint: emulator.url, ...login });
    const config = Object.fromEntries(given.map(([name, value]) => [`microapps:${name}`, value]));
    const plugins = { providers: [{ name: "microapps", path: join(repository, "plugin") }] };
    project = await Project.running("", config, providerKind === "plugin" ? { plugins } : {});
    outside = await freshFolder();
    await project.write("environments.yaml", "dev: { file: dev.yaml }\n");
    for (const [file, text] of Object.entries(files)) await project.write(file, text);
    await project.succeed("stack init dev");
    await project.succeed("config set --secret tests:motto", "we-hide-this");
    await project.succeed("up --yes --skip-preview");
    const git = (...words: string[]) => execFileSync("git", words, { cwd: project.folder });
    git("init", "--quiet", "--initial-branch=main");
    git(..."add index.js package.json dev.yaml regions.csv environments.yaml Pulumi.yaml Pulumi.dev.yaml".split(" "));
    git(..."-c user.name=Tests -c user.email=tests@example.com commit --quiet --allow-empty -m first".split(" "));
    state = await project.stateText();
    emulator.saveSnapshot("begun");
  });
  beforeEach(async () => {
    emulator.loadSnapshot("begun");
    await project.write(".pulumi/stacks/tests/dev.json", state);
    for (const [file, text] of Object.entries(files)) await project.write(file, text);
    for (const name of ["APPROVED", "PROFILE"]) project.environment[`MICROAPPS_${name}`] = undefined;
    project.environment["MICROAPPS_APPROVAL_KEY"] = key;
  });
  afterAll(async () => {
    rmSync(outside, { recursive: true, force: true });
    await client.close();
    await endedCleanly(project, emulator);
  });

  const file = (name = "report.json"): string => join(outside, name);
  const reported = async (): Promise<ChangeSet> => {
    await project.succeed("report dev --format json --output", file());
    return changeSet.parse(JSON.parse(readFileSync(file(), "utf8")));
  };
  const approve = (report: string, ...words: string[]): Promise<Ended> => project.run("approve", report, ...words);
  const digestIn = (set: ChangeSet): string => sealDigest(sealOf(set));
  const approved = async (): Promise<string> => {
    const digest = digestIn(await reported());
    await project.succeed("approve", file(), "--expect", digest);
    return file();
  };
  const up = (...flags: string[]): Promise<Ended> => project.run("up --yes", "--skip-preview", ...flags);
  const calls = async (work: () => Promise<unknown>): Promise<string[]> => {
    const since = emulator.lastCall();
    await work();
    return emulator
      .calls({ since, mutating: true })
      .map(({ endpoint }) => endpoint)
      .toSorted();
  };
  const change = async (): Promise<void> => {
    await project.edit("dev.yaml", "name: Crew", "name: Crew 2");
    await project.edit("dev.yaml", ", bob@example.com: member", "");
    await project.write("regions.csv", rows.replace("North", "Far north").replace("E,East", "W,West"));
  };
  const rosterID = (): string => /acme\/watch",[^}]*?"id": "([^"]+)"/.exec(state)?.[1] ?? "";
  const peopleOf = async (teamID: string) => {
    const { teamMembers } = await client.teammembers({ teamIDs: [teamID] });
    return new Map(teamMembers.map((one) => [one.email ?? "", one]));
  };
  const rowsOf = async (microAppID: string) =>
    (await client.microappdata({ microAppID, searchFilter: [{ skip: 0, limit: 100 }] })).microAppRows;
  const applied = ["deleteteammember", "insertmicroapprows", "removemicroapprow", "updatemicroapprow", "updateteam"];

  test("what was approved is applied, and once", async () => {
    await change();
    const [one, two] = [await reported(), await reported()];
    expect(one).toEqual(two);
    const report = await approved();
    let first: Ended | undefined;
    expect(await calls(async () => void (first = await up("--approved", report)))).toEqual(applied);
    expect(first?.status).toBe(0);
    await project.succeed("preview --expect-no-changes");
    // Also where the state and the platform are as they were: the approval was for one run.
    emulator.loadSnapshot("begun");
    await project.write(".pulumi/stacks/tests/dev.json", state);
    let again: Ended | undefined;
    expect(await calls(async () => void (again = await up("--approved", report)))).toEqual([]);
    expect(again).toMatchObject({
      status: 2,
      output: expect.stringContaining("a run was made with it already") as unknown,
    });
  });

  test("a program that declares more, or something else by the same name, is refused by preview and provider", async () => {
    await change();
    const report = await approved();
    const refused = async (variable: string, value: string, reason: string, ...flags: string[]): Promise<void> => {
      project.environment[variable] = value;
      const { status, output } = await project.run("up --yes --approved", report, ...flags);
      project.environment[variable] = undefined;
      expect(status).toBe(2);
      expect(output).toContain(reason);
    };
    await project.write("other.yaml", environment.replace("name: Crew", "name: Crew 3"));
    const sent = await calls(async () => {
      await refused("MORE", "1", 'the approved report has no create of Organization "evil"');
      const otherwise = 'team "acme/crew" is declared otherwise than in the approved report';
      await refused("OTHER", "other.yaml", otherwise, "--skip-preview");
    });
    expect(sent).not.toContain("insertorganization");
    expect(sent).not.toContain("updateteam");
    rmSync(join(project.folder, "other.yaml"));
  });

  test("a program that changed since is not run", async () => {
    await change();
    const report = await approved();
    const ran = join(outside, "ran");
    const spy = `import { writeFileSync } from "node:fs";\n${program}writeFileSync("${ran}", "");\n`;
    for (const [name, text] of Object.entries({ "lib.js": "", "index.js": spy })) {
      await project.write(name, text);
      const ended: Ended[] = [];
      expect(await calls(async () => ended.push(await up("--approved", report)))).toEqual([]);
      const reason = expect.stringMatching(/what runs \((index.js, )?lib.js\) is not as it was/) as unknown;
      expect([ended[0]?.status, ended[0]?.output, existsSync(ran)]).toEqual([2, reason, false]);
    }
    rmSync(join(project.folder, "lib.js"));
  });

  test("a row that was edited by hand meanwhile is left alone, and the rest is applied", async () => {
    await change();
    const report = await approved();
    const { microAppRows } = await client.microappdata({
      microAppID: "regions",
      searchFilter: [{ skip: 0, limit: 100 }],
    });
    const rowID = microAppRows.find((row) => row["Code"] === "N")?._id ?? "";
    await client.updatemicroapprow({ rowID, microAppID: "regions", rowData: { Name: "By hand" } });
    let ended: Ended | undefined;
    const sent = await calls(async () => void (ended = await up("--approved", report)));
    expect(ended?.status).toBe(1);
    expect(ended?.output).toContain(
      'not as they were when this was approved, and left alone: 1 row of table regions ("N")',
    );
    // An engine deletes nothing once something failed.
    const left = ["updatemicroapprow", "deleteteammember"];
    expect(sent).toEqual(applied.filter((endpoint) => !left.includes(endpoint)));
    // The next report shows what is left to do; of rows as far as it can without the passphrase.
    const [dev] = (await reported()).environments;
    expect(dev?.pending?.things.map(({ name }) => name)).toEqual(["acme/crew"]);
    expect(dev?.pending?.why).toContain("rows of 1 seed are compared when up runs: regions");
    // Which has seen the row: approved, it is written, and nothing but approved runs was needed.
    const rest = await calls(async () => void (ended = await up("--approved", await approved())));
    expect([ended?.status, rest]).toEqual([0, left.toSorted()]);
    await project.succeed("preview --expect-no-changes");
  });

  testInLong(
    "people of a roster who were changed by hand meanwhile are left alone, and the next approved run does the rest",
    async () => {
      await project.edit("dev.yaml", "cyd@example.com: member }", "cyd@example.com: member, dan@example.com: admin }");
      const report = await approved();
      const teamID = rosterID();
      const ids = await peopleOf(teamID);
      const [bob, cyd] = ["bob@example.com", "cyd@example.com"].map((name) => ids.get(name)?.userID ?? "");
      await client.insertteammembers({ teamIDs: [teamID], emails: ["eve@example.com"] });
      await client.updateteammember({ teamID, userID: bob ?? "", role: "admin" });
      await client.deleteteammember({ teamID, userID: cyd ?? "" });
      const ended = await up("--approved", report);
      // An engine that asks the plugin reads first: it knows before anything is sent.
      const [status, sentence] =
        providerKind === "plugin" ? [2, "it was changed since. Make a report"] : [1, "left alone: 3 people of team"];
      expect([ended.status, ended.output]).toEqual([status, expect.stringContaining(sentence)]);
      const roles = async () => [...(await peopleOf(teamID)).values()].map(({ email, role }) => `${email} ${role}`);
      const byHand = ["bob@example.com admin", "dan@example.com admin", "eve@example.com member"].filter(
        (one) => providerKind === "dynamic" || !one.startsWith("dan"),
      );
      expect((await roles()).filter((one) => !one.startsWith("a")).toSorted()).toEqual(byHand);
      const [dev] = (await reported()).environments;
      const people = dev?.pending?.things.flatMap(({ changes }) => changes.map(({ op, name }) => `${op} ${name}`));
      const ahead = ["add cyd@example.com", "change bob@example.com", "remove eve@example.com"];
      expect(people?.toSorted()).toEqual(
        providerKind === "dynamic" ? ahead : [...ahead, "add dan@example.com"].toSorted(),
      );
      expect(await up("--approved", await approved())).toMatchObject({ status: 0 });
      const declared = ["bob@example.com member", "cyd@example.com member", "dan@example.com admin"];
      expect((await roles()).filter((one) => !one.startsWith("a")).toSorted()).toEqual(declared);
      await project.succeed("preview --expect-no-changes");
    },
  );

  testInLong("edits by hand in a seed or roster that goes stay, or are in the next report", async () => {
    await project.edit(
      "dev.yaml",
      "  regions: { table: regions, key: Code, source: regions.csv, maxRemovals: 1 }\n",
      "",
    );
    await project.edit("dev.yaml", /\n        roster: .*/.exec(environment)?.[0] ?? "", "");
    const report = await approved();
    const teamID = rosterID();
    await client.insertteammembers({ teamIDs: [teamID], emails: ["eve@example.com"] });
    const [row] = await rowsOf("regions");
    await client.updatemicroapprow({ rowID: row?._id ?? "", microAppID: "regions", rowData: { Name: "By hand" } });
    const ended = await up("--approved", report);
    const left = async () => [await rowsOf("regions"), await peopleOf(teamID)] as const;
    if (providerKind === "dynamic") {
      expect([ended.status, ended.output]).toEqual([0, expect.stringContaining("1 row edited by hand since")]);
      const [kept, people] = await left();
      expect([kept.map(({ Name }) => Name), [...people.keys()]]).toEqual([
        ["By hand"],
        expect.arrayContaining(["eve@example.com"]),
      ]);
    } else {
      // An engine that reads first knows: what is there then is in the next report.
      expect([ended.status, ended.output]).toEqual([2, expect.stringContaining("it was changed since. Make a report")]);
      expect(await up("--approved", await approved())).toMatchObject({ status: 0 });
      const [kept, people] = await left();
      expect([kept.length, [...people.keys()]]).toEqual([1, expect.not.arrayContaining(["eve@example.com"])]);
    }
    await project.succeed("preview --expect-no-changes");
  });

  testInLong("approved without the state, this change alone is applied to what is there", async () => {
    await change();
    await project.edit("dev.yaml", "  offices: { table: offices, key: Code, rows: [{ Code: L, Name: Lisbon }] }\n", "");
    project.environment["PULUMI_BACKEND_URL"] = "s3://elsewhere";
    await approved();
    expect(readFileSync(file(), "utf8")).toContain('"state": "unknown"');
    project.environment["PULUMI_BACKEND_URL"] = undefined;
    let ended: Ended | undefined;
    const sent = await calls(async () => void (ended = await up("--approved", file())));
    expect([ended?.status, ended?.output]).toEqual([0, expect.anything()]);
    expect(sent).toEqual([...applied, "removemicroapprow"].toSorted());
    await project.succeed("preview --expect-no-changes");
  });

  testInLong("a destroy is none of it; and any engine's run refuses a report that is signed by another", async () => {
    const report = await approved();
    project.environment["MICROAPPS_APPROVED"] = report;
    let ended: Ended | undefined;
    expect(await calls(async () => void (ended = await project.run("destroy --yes --skip-preview")))).toEqual([]);
    expect(ended?.status).toBe(1);
    expect(ended?.output).toContain("the approved report has no delete of");
    project.environment["MICROAPPS_APPROVAL_KEY"] = `${key}, or another`;
    const { status, output } = await project.run("preview");
    expect(status).toBe(1);
    expect(output).toContain("is not accepted: its signature does not fit");
  });

  // The rest happens before the provider is called, so one kind is enough.
  if (providerKind === "plugin") return;

  test("approve signs what it makes itself, where people have seen its digest", async () => {
    await change();
    const report = await reported();
    const digest = digestIn(report);
    const shown = await project.run("report --format md --from", file());
    expect(shown.output.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))).toContain(
      digest,
    );
    const wrong: [(set: ChangeSet) => unknown, string][] = [
      [(set) => set.environments.forEach(({ change: { things } }) => things.splice(0)), "dev (change)"],
      [(set) => set.environments.forEach((each) => delete each.pending), "dev (pending)"],
      [
        (set) => {
          for (const one of Object.values(sealOf(set).resources)) one.except = ["name", "description"];
        },
        "dev (seal)",
      ],
      [(set) => set.flags.push({ text: "nothing to see" }), "flags"],
      [
        (set) => Object.assign(sealOf(set), { form: undefined }),
        "it was made by another version: make the report again",
      ],
    ];
    for (const [edit, reason] of wrong) {
      const set = structuredClone(report);
      edit(set);
      writeFileSync(file("edited.json"), JSON.stringify(set));
      const ended = await approve(file("edited.json"), "--expect", digest);
      expect([ended.status, ended.output]).toEqual([2, expect.stringContaining(reason)]);
    }
    expect(await approve(file())).toMatchObject({
      status: 2,
      output: expect.stringContaining("nobody sits here") as unknown,
    });
    const other = await approve(file(), "--expect", "0".repeat(64));
    expect([other.status, other.output]).toEqual([2, expect.stringContaining("another digest than --expect")]);
    // The displayed content is signed; a changed tree gives another digest.
    expect(other.output).toContain(digest);
    await project.edit("regions.csv", "Far north", "Near north");
    const late = await approve(file(), "--expect", digest);
    expect([late.status, late.output]).toEqual([2, expect.stringContaining("is not the report that this tree")]);
    const fresh = file("fresh.json");
    const none = await project.run("approve --output", fresh, "--expect", digest);
    expect([none.status, existsSync(fresh)]).toEqual([2, false]);
  });

  testInLong("what does not fit is refused by name before anything is sent", async () => {
    await change();
    await project.write("own.yaml", "extends: usual.yaml\n");
    await project.write("usual.yaml", "version: 1\nhabits: { memberForm: userIDs }\n");
    project.environment["MICROAPPS_PROFILE"] = "own.yaml";
    const report = await approved();
    const good = JSON.parse(readFileSync(report, "utf8")) as ChangeSet;
    const run = (more: Partial<ApprovedRun> = {}): ApprovedRun => ({
      file: report,
      folder: project.folder,
      project: project.folder,
      stack: "dev",
      endpoint: emulator.url,
      account: login.email,
      environment: { MICROAPPS_APPROVAL_KEY: key },
      now: Date.now(),
      ...more,
    });
    const { seal } = await readApproval(run());
    // A secret of the configuration is in no digest: the file with its ciphertext is.
    expect(seal.resources["Organization acme"]?.except).toEqual(["description"]);
    let edits = 0;
    const written = (edit: (set: ChangeSet) => unknown, sign = true): ApprovedRun => {
      const set = structuredClone(good);
      edit(set);
      if (sign && set.approval) set.approval.signature = signatureOf(set, key);
      const edited = file(`edited-${edits++}.json`);
      writeFileSync(edited, JSON.stringify(set));
      return run({ file: edited });
    };
    const inside = join(project.folder, "report.json");
    symlinkSync(report, inside);
    const wrong: [ApprovedRun, string][] = [
      [
        written((set) => (sealOf(set).resources["Team acme/crew"] = { operations: ["delete"] }), false),
        "its signature does not fit",
      ],
      [written((set) => set.environments[0]?.notes.push("looks good"), false), "its signature does not fit"],
      [run({ environment: { MICROAPPS_APPROVAL_KEY: `${key}, or another` } }), "its signature does not fit"],
      [run({ environment: { MICROAPPS_APPROVAL_KEY: "short" } }), "has less than 32 characters"],
      [written((set) => delete set.approval, false), "it is not signed"],
      [run({ file: inside }), "it lies in the working tree"],
      [run({ now: Date.now() + 8 * 24 * 3_600_000 }), "the approval expired"],
      [run({ stack: "prod" }), "it is about dev, and not about the stack prod"],
      [written((set) => (sealOf(set).stack = "prod")), "its seal is of the stack prod"],
      [run({ endpoint: "https://elsewhere.example.com" }), "another endpoint"],
      [run({ account: "eve@example.com" }), "another account"],
      [written((set) => (sealOf(set).package.version = "0.0.1")), "made by another version, pulumi-microapps 0.0.1"],
      [written((set) => Object.assign(sealOf(set), { form: 1 })), "another version: make the report again"],
      [run({ file: file("absent.json") }), "it can't be read: ENOENT"],
    ];
    for (const [one, reason] of wrong) await expect(readApproval(one)).rejects.toThrow(reason);
    rmSync(inside);
    // Without a key it is believed for where it lies, unless it lies in the tree.
    await readApproval({ ...written((set) => delete set.approval, false), environment: {} });
    await project.edit("regions.csv", "Far north", "Near north");
    await expect(readApproval(run())).rejects.toThrow("regions.csv is not as it was when this was approved");
    await project.edit("regions.csv", "Near north", "Far north");
    await project.edit("usual.yaml", "userIDs", "objects");
    await expect(readApproval(run())).rejects.toThrow("usual.yaml is not as it was when this was approved");
    await project.edit("usual.yaml", "objects", "userIDs");
    await project.succeed("up --yes --skip-preview");
    let ended: Ended | undefined;
    expect(await calls(async () => void (ended = await up("--approved", report)))).toEqual([]);
    expect(ended).toMatchObject({ status: 2, output: expect.stringContaining("something ran since") as unknown });
  });
});
