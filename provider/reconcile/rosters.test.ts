import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { managing, planRoster, type RosterMember, type WantedMember } from "./rosters.ts";

const ann = { userID: "1", email: "Ann@crew.example", role: "admin" };
const bob = { userID: "2", email: "bob@crew.example", role: "member" };
const cat = { userID: "3", email: "cat@other.example", role: "member" };

describe("a roster", () => {
  test("adds, removes and changes roles; addresses are the same in any letter case", () => {
    const plan = planRoster(
      [{ email: "ann@CREW.example", role: "member" }, { email: "dan@crew.example" }, { email: "cat@other.example" }],
      [ann, bob, cat],
      { mode: "authoritative", minAdmins: 0 },
    );
    expect(plan).toMatchObject({
      add: [{ email: "dan@crew.example" }],
      remove: [bob],
      changeRole: [{ member: ann, role: "member" }],
      unchanged: 1,
      refusals: [],
    });
  });

  test("additive removes nobody, ignored members stay", () => {
    expect(planRoster([], [ann, bob, cat], { mode: "additive" })).toMatchObject({ remove: [], others: 3 });
    const plan = planRoster([], [ann, bob, cat], { mode: "authoritative", ignore: ["*@other.example", "ANN@*"] });
    expect(plan).toMatchObject({ remove: [bob], ignored: 2 });
  });

  test("a member without an address is known by user ID", () => {
    const plan = planRoster([{ email: "ann@crew.example", userID: "1" }], [{ userID: "1" }], { mode: "authoritative" });
    expect(plan).toMatchObject({ add: [], remove: [], unchanged: 1 });
  });

  test("the last administrator is kept unless minAdmins is 0; where there is none, none is asked for", () => {
    const demoted = [{ email: "ann@crew.example", role: "member" as const }];
    const few = planRoster(demoted, [ann], { mode: "authoritative" }).refusals;
    expect(few).toEqual([expect.stringContaining("0 administrators would be left")]);
    expect(planRoster(demoted, [ann], { mode: "authoritative", minAdmins: 0 }).refusals).toEqual([]);
    expect(planRoster(demoted, [bob], { mode: "authoritative" }).refusals).toEqual([]);
  });

  test("one address in two spellings is refused", () => {
    const plan = planRoster([{ email: "a@b" }, { email: "A@b" }], [], { mode: "authoritative" });
    expect(plan.refusals).toEqual(["a@b is declared twice, in different spellings. Keep one."]);
  });

  test("guards: removals, administrators, the caller", () => {
    const many = Array.from({ length: 10 }, (_, index) => ({ userID: `m${index}`, email: `m${index}@crew.example` }));
    const { refusals } = planRoster([], [...many, ann], {
      mode: "authoritative",
      minAdmins: 1,
      keepSelf: { email: "ann@crew.example" },
    });
    expect(refusals.map((refusal) => refusal.split(".")[0])).toEqual([
      "11 of 11 members would be removed, more than maxRemovals allows (25 %)",
      "0 administrators would be left, fewer than minAdmins asks for (1)",
      "ann@crew",
    ]);
    const demoted = planRoster([{ email: "ann@crew.example", role: "member" }], [ann], {
      mode: "authoritative",
      minAdmins: 0,
      keepSelf: { userID: "1" },
    });
    expect(demoted.refusals).toEqual([expect.stringContaining("would be made a plain member")]);
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
        (wanted: WantedMember[], there, mode) => {
          const live: RosterMember[] = there.map((one) => ({
            ...one,
            userID: one.email,
            email: one.email.toUpperCase(),
          }));
          const options = { mode, ignore: ["*@z"], maxRemovals: 1 } as const;
          const plan = planRoster(wanted, live, options);
          const after = live
            .filter((member) => !plan.remove.includes(member))
            .map((member) => ({
              ...member,
              role: plan.changeRole.find((one) => one.member === member)?.role ?? member.role,
            }))
            .concat(plan.add.map(({ email = "", role: given }) => ({ userID: email, email, role: given ?? "member" })));
          expect(planRoster(wanted, after, options)).toMatchObject({ add: [], remove: [], changeRole: [] });
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
    const roster = crowd.map((people) => people.map(({ n, role }): WantedMember => ({ email: `m${n}@crew`, role })));
    const team = crowd.map((people) =>
      people.map(({ n, role, spelling }): RosterMember => {
        const email = { lower: `m${n}@crew`, upper: `M${n}@CREW`, none: undefined }[spelling];
        return { userID: `u${n}`, email, role };
      }),
    );
    // Members who are listed without an address are known by the IDs that the state has.
    const known = (wanted: WantedMember[]): WantedMember[] =>
      wanted.map((one) => ({ ...one, userID: one.email?.replace(/^m(\d+)@crew$/, "u$1") }));

    test("everybody who is there is meant once, and ignored or other members are left alone", () => {
      fc.assert(
        fc.property(roster, team, options, (wanted, live, how) => {
          const plan = planRoster(known(wanted), live, how);
          const { remove, changeRole, unchanged, ignored, others } = plan;
          expect(remove.length + changeRole.length + unchanged + ignored + others).toBe(live.length);
          const decides = managing(known(wanted), how);
          expect(live.filter((member) => !decides(member))).toHaveLength(ignored + others);
          expect(remove.every(decides)).toBe(true);
          if (how.mode === "additive") expect(remove).toEqual([]);
        }),
      );
    });

    test("a plan without refusals keeps what the guards guard, and once carried out nothing is left to do", () => {
      fc.assert(
        fc.property(roster, team, options, (wanted, live, how) => {
          const plan = planRoster(known(wanted), live, how);
          const removed = new Set(plan.remove);
          const roles = new Map(plan.changeRole.map(({ member, role }) => [member, role]));
          const added = plan.add.map(({ email = "", userID = "", role }) => ({
            userID,
            email,
            role: role ?? "member",
          }));
          const after = live
            .filter((member) => !removed.has(member))
            .map((member) => ({ ...member, role: roles.get(member) ?? member.role }))
            .concat(added);
          const again = planRoster(known(wanted), after, how);
          expect(again).toMatchObject({ add: [], remove: [], changeRole: [] });
          fc.pre(plan.refusals.length === 0);
          const admins = (members: RosterMember[]): number => members.filter(({ role }) => role === "admin").length;
          expect(admins(after)).toBeGreaterThanOrEqual(how.minAdmins ?? Math.min(1, admins(live)));
          const managed = live.length - plan.ignored;
          if (managed >= 10) expect(plan.remove.length).toBeLessThanOrEqual(managed * (how.maxRemovals ?? 0.25));
          const self = (members: RosterMember[]) => members.find(({ userID }) => userID === how.keepSelf?.userID);
          if (self(live)) expect(self(after)).toBeDefined();
          if (self(live)?.role === "admin") expect(self(after)?.role).toBe("admin");
        }),
      );
    });
  });
});

test("patterns are matched in any letter case, and in no time however they are made", () => {
  const left = (pattern: string, email: string): boolean =>
    planRoster([], [{ userID: "u", email }], { mode: "authoritative", ignore: [pattern] }).ignored === 1;
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
