import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { planRoster, type RosterMember, type WantedMember } from "./rosters.ts";

const ann = { userID: "1", email: "Ann@crew.example", role: "admin" };
const bob = { userID: "2", email: "bob@crew.example", role: "member" };
const cat = { userID: "3", email: "cat@other.example", role: "member" };

describe("a roster", () => {
  test("adds, removes and changes roles; addresses are the same in any letter case", () => {
    const plan = planRoster(
      [{ email: "ann@CREW.example", role: "member" }, { email: "dan@crew.example" }, { email: "cat@other.example" }],
      [ann, bob, cat],
      { mode: "authoritative" },
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
});
