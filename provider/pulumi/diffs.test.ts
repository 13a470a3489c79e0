import { expect, test } from "@jest/globals";
import { completeDialect } from "../../platform/profile/profile.ts";
import { encodeLedger, ledgerOf } from "../reconcile/ledger.ts";
import { RowSet } from "../reconcile/rowSet.ts";
import { Identities } from "../resources/model/identities.ts";
import { Journal } from "../resources/model/journal.ts";
import type { OfflineResourceContext } from "../resources/resource.ts";
import { resourceNamed } from "../resources/resources.ts";
import { TeamClaims } from "../resources/run.ts";
import { RowClaims } from "../seedRows/declared/claims.ts";
import { summarize } from "../seedRows/declared/declaration.ts";
import { check, diff, type Properties } from "./properties.ts";

const urnOf = (type: string, name: string): string => `urn:pulumi:dev::tests::microapps:index:${type}::${name}`;
const notes = [
  "begin",
  "settled",
  "saved",
  "handed",
  "claim",
  "announce",
  "forget",
  "renew",
  "leave",
  "removed",
  "found",
  "remember",
  "began",
  "ended",
];

/** A run in which no diff may note anything. */
class Run {
  readonly #claims = { claims: new TeamClaims(), rowClaims: new RowClaims(".") };
  readonly said: string[] = [];

  #context(guarded: boolean): OfflineResourceContext {
    const guard = <Claims extends object>(claims: Claims): Claims =>
      new Proxy(claims, {
        get: (target, name) => {
          if (guarded && notes.includes(String(name))) throw new Error(`a diff notes: ${String(name)}`);
          const member: unknown = Reflect.get(target, name, target);
          return typeof member === "function" ? (member.bind(target) as unknown) : member;
        },
      });
    const say = (text: string): void => void this.said.push(text);
    return {
      claims: guard(this.#claims.claims),
      rowClaims: guard(this.#claims.rowClaims),
      identities: new Identities(),
      organizationNames: new Map(),
      journal: new Journal(() => "test"),
      report: { status: say, info: say, forecast: say, warning: say },
      directory: ".",
      day: "2026-11-23",
      platform: "p",
      account: {},
      dialect: completeDialect(),
      seed: () => new Uint8Array(32),
    };
  }

  async check(type: string, name: string, news: Properties, olds: Properties = {}): Promise<Properties> {
    const inputs = { ...news, resourceUrn: urnOf(type, name) };
    const checked = await check(definition(type), this.#context(false), olds, inputs);
    expect(checked.problems).toEqual([]);
    return checked.inputs;
  }

  /** The result of a diff that is asked for twice: it must be the same, and say the same. */
  async diff(type: string, state: Properties, inputs: Properties) {
    const ask = async () => {
      this.said.length = 0;
      return { ...(await diff(definition(type), this.#context(true), state, inputs)), said: [...this.said] };
    };
    const first = await ask();
    expect(plainly(await ask())).toEqual(plainly(first));
    return first;
  }
}

/** Sets of rows as lists, by which they are compared. */
const plainly = (value: object): unknown =>
  JSON.parse(JSON.stringify(value, (_name, one: unknown) => (one instanceof RowSet ? [...one] : one)));

function definition(type: string) {
  const found = resourceNamed(type);
  if (!found) throw new Error(`there is no ${type}`);
  return found;
}

const seed = (...codes: string[]) => ({ table: "regions", key: "Code", rows: codes.map((Code) => ({ Code })) });

test("a diff of a seed notes nothing, and returns which rows leave, for whom, and what is made anew", async () => {
  const before = new Run();
  const old = await before.check("SeedRows", "a", { ...seed("EU", "US"), viewers: ["u1"] });
  const { rows, labels } = await summarize({ key: ["Code"], ...old }, ".");
  const state = { ...old, rowCount: 2, ledger: encodeLedger(ledgerOf(rows)), labels };

  const run = new Run();
  await run.check("SeedRows", "b", seed("US"));
  const news = { ...seed("AF"), viewers: ["u2"], onViewersChange: "newRows", salt: old["salt"] };
  const inputs = await run.check("SeedRows", "a", news, old);
  const { findings, changed, said } = await run.diff("SeedRows", state, inputs);
  expect(changed).toContain("digest");
  expect(findings?.leaving?.keys).toHaveLength(2);
  expect(findings?.leaving?.handedOver).toHaveLength(1);
  expect(findings?.renewed).toEqual([]);
  expect(said.join("\n")).toContain('1 stay: SeedRows "b" declares them');
});

test("a diff of a resource with people notes nothing, and returns the IDs that the state knows", async () => {
  const email = "ada@example.com";
  const people = [expect.objectContaining({ userID: "u1" })];
  const members = { [email]: "member" };
  const cases: [string, Properties, Properties, string[]][] = [
    ["TeamMember", { teamID: "t1", email }, { memberUserID: "u1" }, []],
    ["TeamRoster", { teamID: "t3", members }, { userIDs: ["u1"] }, []],
    // A state of version 0.1.0, which kept who was in the team before: from now on that person is managed like any other.
    ["TeamMember", { teamID: "t4", email }, { memberUserID: "u1", found: "member" }, ["found"]],
    ["TeamRoster", { teamID: "t5", members }, { userIDs: ["u1"], found: { u1: "member" } }, ["found"]],
  ];
  for (const [type, news, added, leftBehind] of cases) {
    const run = new Run();
    const inputs = await run.check(type, "it", news);
    const { findings, changed } = await run.diff(type, { ...inputs, ...added }, inputs);
    expect([type, changed]).toEqual([type, leftBehind]);
    expect(findings?.people).toEqual(people);
  }
});
