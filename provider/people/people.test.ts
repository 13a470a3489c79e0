import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { planMembers, type ListedMember, type PlanOptions, type Wanted } from "./people.ts";

describe("whatever is declared and there", () => {
  const person = fc.record({
    n: fc.nat(30),
    role: fc.constantFrom("admin" as const, "member" as const),
    spelling: fc.constantFrom("lower", "upper", "none"),
  });
  const crowd = fc.uniqueArray(person, { selector: ({ n }) => n, maxLength: 31 });
  const options = fc.record(
    {
      mode: fc.constantFrom("authoritative" as const, "additive" as const),
      ignore: fc.subarray(["m1*@crew", "M2@crew", "*9@crew"]),
      maxRemovals: fc.constantFrom(0, 0.1, 0.25, 1),
      minAdmins: fc.nat(3),
      keepSelf: fc.record({ userID: fc.nat(30).map((n) => `u${n}`) }),
    },
    { requiredKeys: ["mode"] },
  );
  const roster = crowd.map((people) => people.map(({ n, role }): Wanted => ({ email: `m${n}@crew`, role })));
  const team = crowd.map((people) =>
    people.map(({ n, role, spelling }): ListedMember => {
      const email = { lower: `m${n}@crew`, upper: `M${n}@CREW`, none: undefined }[spelling];
      return { userID: `u${n}`, email, role };
    }),
  );
  // Members who are listed without an address are known by the IDs that the state has.
  const known = (wanted: Wanted[]): Wanted[] =>
    wanted.map((one) => ({ ...one, userID: one.email?.replace(/^m(\d+)@crew$/, "u$1") }));

  test("a plan without refusals keeps what the guards guard, and once carried out nothing is left to do", () => {
    fc.assert(
      fc.property(roster, team, options, (wanted, live, how: PlanOptions) => {
        const plan = planMembers(known(wanted), live, how);
        const removed = new Set(plan.remove);
        const roles = new Map(plan.change.map(({ member, role }) => [member, role]));
        const added = plan.add.map(({ email = "", userID = "", role }) => ({
          userID,
          email,
          role: role ?? "member",
        }));
        const after = live
          .filter((member) => !removed.has(member))
          .map((member) => ({ ...member, role: roles.get(member) ?? member.role }))
          .concat(added);
        const again = planMembers(known(wanted), after, how);
        expect(again).toMatchObject({ add: [], remove: [], change: [] });
        fc.pre(plan.refusals.length === 0);
        const admins = (members: ListedMember[]): number => members.filter(({ role }) => role === "admin").length;
        expect(admins(after)).toBeGreaterThanOrEqual(how.minAdmins ?? Math.min(1, admins(live)));
        const managed = live.length - plan.ignored;
        if (managed >= 10) expect(plan.remove.length).toBeLessThanOrEqual(managed * (how.maxRemovals ?? 0.25));
        const self = (members: ListedMember[]) => members.find(({ userID }) => userID === how.keepSelf?.userID);
        if (self(live)) expect(self(after)).toBeDefined();
        if (self(live)?.role === "admin") expect(self(after)?.role).toBe("admin");
      }),
    );
  });
});

test("patterns are matched in any letter case, and in no time however they are made", () => {
  const left = (pattern: string, email: string): boolean =>
    planMembers([], [{ userID: "u", email }], { mode: "authoritative", ignore: [pattern] }).ignored === 1;
  const rows: [string, string, boolean][] = [
    ["*@partner.example.com", "Ada@Partner.example.com", true],
    ["*@partner.example.com", "ada@partner.example.org", false],
    ["ada@example.com", "ada@example.com", true],
    ["ada@example.com", "xada@example.com", false],
    ["a*b*c", "aXbXc", true],
    ["a*b*c", "acb", false],
    ["ab*ba", "aba", false],
    ["ab*ba", "abba", true],
    ["a**b", "ab", true],
    ["a.c", "abc", false],
    ["(x+)+$", "(x+)+$", true],
  ];
  for (const [pattern, email, expected] of rows) {
    expect([pattern, email, left(pattern, email)]).toEqual([pattern, email, expected]);
  }
  // Neither ends where a pattern is tried at each place.
  expect(left(`${"*a".repeat(5_000)}*@x`, `${"a".repeat(20_000)}@y`)).toBe(false);
  expect(left(`${"*a".repeat(20)}*@x`, "a".repeat(64))).toBe(false);
});
