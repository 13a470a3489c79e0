import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { People, planMembers, type LiveMember, type PlanOptions, type Wanted } from "./people.ts";

const ann = { userID: "1", email: "Ann@crew.example", role: "admin" };
const bob = { userID: "2", email: "bob@crew.example", role: "member" };

describe("a plan of memberships", () => {
  test("a user ID counts once, however often a list shows it, and a declared person is never removed", () => {
    const again = { ...ann, email: undefined };
    const plan = planMembers([{ email: "ann@crew.example", role: "admin" }], [again, ann, bob, bob], {
      mode: "authoritative",
      maxRemovals: 1,
    });
    expect(plan).toMatchObject({ add: [], change: [], remove: [bob], unchanged: 1, refusals: [] });
  });

  test("a role that nobody shows is the last one, and is set where that is another", () => {
    const wanted = [{ email: "ann@crew.example", role: "admin" as const }];
    const bare = [{ userID: "1", email: "ann@crew.example" }];
    const plan = (role: "admin" | "member") =>
      planMembers(wanted, bare, { mode: "authoritative", owned: [{ email: "ann@crew.example", role }] });
    expect([plan("admin").change.length, plan("member").change.length]).toEqual([0, 1]);
  });

  test("carried out once, any roster is as declared", () => {
    const person = fc.constantFrom("a@x", "B@x", "c@y", "D@y", "e@z");
    const role = fc.constantFrom("admin", "member");
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.record({ email: person, role: fc.option(role, { nil: undefined }) }), {
          selector: (one) => one.email,
        }),
        fc.uniqueArray(fc.record({ email: person, role }), { selector: (one) => one.email }),
        fc.constantFrom("authoritative", "additive"),
        (wanted: Wanted[], there, mode) => {
          const live: LiveMember[] = there.map((one) => ({
            ...one,
            userID: one.email,
            email: one.email.toUpperCase(),
          }));
          const options = { mode, ignore: ["*@z"], maxRemovals: 1 } as const;
          const plan = planMembers(wanted, live, options);
          const after = live
            .filter((member) => !plan.remove.includes(member))
            .map((member) => ({
              ...member,
              role: plan.change.find((one) => one.member === member)?.role ?? member.role,
            }))
            .concat(plan.add.map(({ email = "", role: given }) => ({ userID: email, email, role: given ?? "member" })));
          expect(planMembers(wanted, after, options)).toMatchObject({ add: [], remove: [], change: [] });
        },
      ),
      { numRuns: 200 },
    );
  });

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
      people.map(({ n, role, spelling }): LiveMember => {
        const email = { lower: `m${n}@crew`, upper: `M${n}@CREW`, none: undefined }[spelling];
        return { userID: `u${n}`, email, role };
      }),
    );
    // Members who are listed without an address are known by the IDs that the state has.
    const known = (wanted: Wanted[]): Wanted[] =>
      wanted.map((one) => ({ ...one, userID: one.email?.replace(/^m(\d+)@crew$/, "u$1") }));

    test("everybody who is there is meant once, and ignored or other members are left alone", () => {
      fc.assert(
        fc.property(roster, team, options, (wanted, live, how: PlanOptions) => {
          const plan = planMembers(known(wanted), live, how);
          const { remove, change, unchanged, ignored, others } = plan;
          expect(remove.length + change.length + unchanged + ignored + others).toBe(live.length);
          const declared = new People(known(wanted));
          expect(remove.some((member) => declared.has(member))).toBe(false);
          if (how.mode === "additive") expect(remove).toEqual([]);
        }),
      );
    });

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
          const admins = (members: LiveMember[]): number => members.filter(({ role }) => role === "admin").length;
          expect(admins(after)).toBeGreaterThanOrEqual(how.minAdmins ?? Math.min(1, admins(live)));
          const managed = live.length - plan.ignored;
          if (managed >= 10) expect(plan.remove.length).toBeLessThanOrEqual(managed * (how.maxRemovals ?? 0.25));
          const self = (members: LiveMember[]) => members.find(({ userID }) => userID === how.keepSelf?.userID);
          if (self(live)) expect(self(after)).toBeDefined();
          if (self(live)?.role === "admin") expect(self(after)?.role).toBe("admin");
        }),
      );
    });
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
