import { memberNames, people, pick, without, type Editing, type Members, type Model, type Which } from "./model.ts";

/** Chooses a team, and gives back the program with other members of it. */
const onTeam =
  (
    change: (
      members: Members,
      which: Which,
      team: string,
      model: Model,
    ) => Iterable<readonly [string, Members]> | undefined,
  ): Editing =>
  (model, which) => {
    const chosen = pick([...model.teams], which[0]);
    const instead = chosen && change(chosen[1], which, chosen[0], model);
    return instead && { ...model, teams: new Map([...model.teams, ...instead]) };
  };

const freeName = (model: Model, at: number): string | undefined => {
  const taken = [...model.teams.values()].flatMap((members) => [...members.keys()]);
  return pick(
    memberNames.filter((name) => !taken.includes(name)),
    at,
  );
};

/** Edits of a program's teams. */
export const peopleEdits = {
  renameMember: onTeam((members, [, at, to], team, model) => {
    const chosen = pick([...members], at);
    const name = freeName(model, to);
    if (!chosen || name === undefined) return undefined;
    return [[team, new Map([...without(members, [chosen[0]]), [name, chosen[1]]])]];
  }),
  swapMembers: onTeam((members, _, team) => {
    const [first, second, ...rest] = [...members];
    if (!first || !second) return undefined;
    return [[team, new Map([[first[0], second[1]], [second[0], first[1]], ...rest])]];
  }),
  changeTeam: onTeam((members, [, at], team, model) => {
    const chosen = pick([...members], at);
    const other = [...model.teams].find(([name]) => name !== team);
    if (!chosen || !other || [...other[1].values()].some(({ email }) => email === chosen[1].email)) return undefined;
    return [
      [team, without(members, [chosen[0]])],
      [other[0], new Map([...other[1], chosen])],
    ];
  }),
  changeRole: onTeam((members, [, at], team) => {
    const chosen = pick([...members], at);
    if (!chosen) return undefined;
    const [name, { email, role }] = chosen;
    return [[team, new Map([...members, [name, { email, role: role === "admin" ? "member" : "admin" }]])]];
  }),
  removeMember: onTeam((members, [, at], team) => {
    const chosen = pick([...members.keys()], at);
    return chosen === undefined ? undefined : [[team, without(members, [chosen])]];
  }),
  addMember: onTeam((members, [, at, to], team, model) => {
    const there = [...members.values()].map(({ email }) => email);
    const email = pick(
      people.filter((each) => !there.includes(each)),
      at,
    );
    const name = freeName(model, to);
    return email === undefined || name === undefined
      ? undefined
      : [[team, new Map([...members, [name, { email, role: "member" }]])]];
  }),
} satisfies Record<string, Editing>;
