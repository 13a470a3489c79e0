import type { LoggedCall } from "../../emulator/index.ts";
import type { rowsOn } from "./declarations.ts";
import type { Seed } from "./model.ts";

/** Messages about a resource, and the calls for it that changed the platform. */
export interface Watched {
  told: string[];
  calls: LoggedCall[];
}

/** A resource in a run: the step in the preview, its messages, and the calls that the run then made. */
export interface Run extends Watched {
  name: string;
  step: string;
}

type Rows = Awaited<ReturnType<typeof rowsOn>>;

/** Rows of the platform by ID: table and code. */
export const codesByID = (rows: Rows): [string, string][] => [...rows].map(([row, { id }]) => [id, row]);

/** Rows that a preview announces for a kind of change: their number, and which. */
interface Announced {
  count: number;
  codes: string[];
}

/** A key is a code, or the name of the row with that code. */
const codesIn = /"(?:Name of )?([^"]+)"/g;

function announced(line: string, what: string): Announced {
  const [, count = "0", names = ""] = new RegExp(`(\\d+) ${what}(?: \\(([^)]*)\\))?`).exec(line) ?? [];
  return { count: Number(count), codes: [...names.matchAll(codesIn)].map(([, code]) => code ?? "") };
}

/** Calls of a run for rows, by code. */
function sent(calls: readonly LoggedCall[], ids: ReadonlyMap<string, string>) {
  const of = (endpoint: string): LoggedCall["request"][] =>
    calls.flatMap((call) => (call.endpoint === endpoint ? [call.request] : []));
  const coded = (requests: LoggedCall["request"][]): string[] =>
    requests.map(({ rowID }) => (ids.get(String(rowID)) ?? "?").split(" ")[1] ?? "?");
  const rows = [
    ...of("insertmicroapprows").flatMap(({ rows }) => rows as Record<string, unknown>[]), // as a seed sends them
    ...of("insertmicroapprow").map(({ rowData }) => rowData as Record<string, unknown>),
  ];
  return {
    inserted: rows.map(({ Code }) => String(Code)),
    changed: coded(of("updatemicroapprow")),
    removed: coded(of("removemicroapprow")),
  };
}

interface Surroundings {
  seed: Seed;
  /** The rows of the platform before the run. */
  before: Rows;
  ids: ReadonlyMap<string, string>;
  /** An interrupted run may have done a part of what is announced. */
  resumes: boolean;
  /** True if the update left rows for a later seed, which the preview of a program without announcements can't know. */
  spares: boolean;
}

export const spares = (told: readonly string[]): boolean =>
  told.some((text) => /\d+ stay: SeedRows "[^"]+" declares/.test(text));

/** Differences between a seed's run and its preview. */
export function rowsAgainst(
  { step, told, calls }: Run,
  { seed, before, ids, resumes, spares }: Surroundings,
): string[] {
  // The rest of an interrupted replacement is deleted without a diff: no preview asks a provider about it.
  if (step === "delete" && resumes) return [];
  const { inserted, changed, removed } = sent(calls, ids);
  const wrong: string[] = [];
  const expect = (holds: boolean, what: string): void => {
    if (!holds) wrong.push(what);
  };
  const line = told.findLast((text) => text.startsWith("info: rows: ")) ?? "";
  const replacing = announced(told.join("\n"), "rows of \\w+ are removed").count;
  if (step === "same") expect(calls.length === 0, `${calls.length} calls although nothing changes`);
  const adding = announced(line, "to add (?:if they do not exist yet|or to take over)");
  const changing = announced(line, "to change");
  const removing = announced(line, "to remove");
  // Rows that the platform lost are repaired besides.
  const repairing = [
    ...(/(?:edited by hand|lead nowhere any more): ([^;]*)/.exec(told.join("\n"))?.[1] ?? "").matchAll(codesIn),
  ].map(([, code]) => code ?? "");
  const [adopts, relinks, renews, differ] = [
    line.includes("or to take over"),
    line.includes("up to"),
    /but for links|the links to them are renewed/.test(told.join("\n")),
    line.includes("where they differ"),
  ];
  const there = (code: string): boolean => before.has(`${seed.table} ${code}`);
  const among = (some: readonly string[], all: readonly string[]): boolean => some.every((one) => all.includes(one));
  expect(among(inserted, [...adding.codes, ...repairing]), `added ${inserted.join()}`);
  expect(
    adding.codes.every((code) => inserted.includes(code) || there(code)),
    `did not add all of ${adding.codes.join()}`,
  );
  expect(adding.count === adding.codes.length, `${adding.count} and ${adding.codes.join()}`);
  expect(changing.count === changing.codes.length, `${changing.count} and ${changing.codes.join()}`);
  const more = changed.filter(
    (code) => !changing.codes.includes(code) && !repairing.includes(code) && !(adopts && adding.codes.includes(code)),
  );
  expect(renews || differ || more.length === 0, `changed ${more.join()}`);
  expect(relinks || resumes || among(changing.codes, changed), `did not change all of ${changing.codes.join()}`);
  if (replacing > 0) {
    expect(removed.length <= replacing, `removed ${removed.length} of ${replacing}`);
  } else {
    expect(among(removed, removing.codes), `removed ${removed.join()}`);
    expect(resumes || spares || among(removing.codes, removed), `did not remove all of ${removing.codes.join()}`);
  }
  expect(removing.count === removing.codes.length, `${removing.count} and ${removing.codes.join()}`);
  return wrong;
}

/** Differences between another resource's run and its preview. */
export function peopleAgainst({ name, step, calls }: Run, email: string | undefined): string[] {
  const told = calls.map(({ endpoint, request }) => `${endpoint} ${JSON.stringify(request)}`);
  if (step === "same" && calls.length > 0) return [`${told.join()} although nothing changes`];
  const others = told.filter((call) => email !== undefined && !call.includes(email));
  return step === "replace" || step === "delete" || others.length === 0 ? [] : [`${name}: ${others.join()}`];
}
