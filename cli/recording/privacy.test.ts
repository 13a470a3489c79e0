import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { parse } from "yaml";
import { isObject } from "../../provider/contract/wire.ts";
import { Recording } from "./recording.ts";
import { passing } from "./testing/passing.ts";

const login = (email: string, password: string, authToken: string) =>
  passing("login", { email, password }, { status: "success", authToken, userId: "the-id-of-the-admin" });

/** The written files, and whether the scan of them found nothing. */
function written(recording: Recording): { text: string; leaves: string[]; isClean: boolean } {
  const { seed, facts, finder } = recording.made("2026-01-02");
  const values = [parse(seed), parse(facts)] as unknown[];
  return {
    text: seed + facts,
    leaves: values.flatMap((value) => [...leavesOf(value)]),
    isClean: values.every((value) => finder.kindIn(value) === undefined),
  };
}

function* leavesOf(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const item of value) yield* leavesOf(item);
  else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      yield key;
      yield* leavesOf(inner);
    }
  } else yield String(value);
}

// Written here by themselves, so that they can't be wrong together with what is tested.
const encodings: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `before ${text} after`,
  (text) => `${text}!`,
  encodeURIComponent,
  (text) => `https://files.example.com/a?key=${encodeURIComponent(text)}&b=1`,
  (text) => Buffer.from(text).toString("base64"),
  (text) => Buffer.from(`user:${text}`).toString("base64"),
  (text) => Buffer.from(text).toString("base64url"),
  (text) => Buffer.from(text).toString("hex"),
  (text) => JSON.stringify({ inner: text, list: [text] }),
  (text) => JSON.stringify({ inner: JSON.stringify([text]) }),
  (text) => Buffer.from(JSON.stringify({ inner: text })).toString("base64"),
  (text) => encodeURIComponent(Buffer.from(text).toString("base64")),
];

/** True when a leaf holds a secret, by plain search. */
function holds(leaf: string, secret: string): boolean {
  const decoded = [leaf];
  for (let depth = 0; depth < 3; depth++) {
    for (const text of [...decoded]) {
      for (const run of text.match(/[\w+/-]{8,}={0,2}/g) ?? []) {
        decoded.push(Buffer.from(run, "base64").toString("utf8"), Buffer.from(run, "hex").toString("utf8"));
      }
      decoded.push(text.replaceAll('\\"', '"').replaceAll("\\\\", "\\"));
      try {
        decoded.push(decodeURIComponent(text));
      } catch {
        // It is no such encoding.
      }
    }
  }
  return decoded.some((text) => text.includes(secret));
}

const secret = fc.oneof(
  fc.stringMatching(/^[a-zA-Z0-9]{12,30}$/),
  fc.stringMatching(/^[ -~]{12,30}$/).filter((text) => text.trim() === text),
  fc.stringMatching(/^[a-z]{4}[äößéλж]{3}[!$%&/=?+#-]{2}[0-9]{3}$/),
);
const label = fc.constantFrom("Note", "Code", "Remark", "Name", "Link", "Any thing");
const place = fc.record({ label, encoding: fc.nat(encodings.length - 1), which: fc.nat(3) });

describe("no secret and no person is written, wherever they stand and however they are spelled", () => {
  test.each(["shape", "values"] as const)("rows as %s", (rows) => {
    const secrets = fc.uniqueArray(secret, { minLength: 4, maxLength: 4 });
    const people = fc.record({
      local: fc.stringMatching(/^[a-z]{3,8}\.[a-z]{3,8}$/),
      name: fc.stringMatching(/^[A-Z][a-z]{6,9} [A-Z][a-z]{6,9}$/),
    });
    const places = fc.array(place, { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(
        secrets,
        people,
        places,
        places,
        ([password = "", token = "", key = "", cookie = ""], person, inRows, inOthers) => {
          const email = `${person.local}@company.org`;
          const hidden = [password, token, key, email];
          const recording = new Recording({ base: "", labels: ["Any thing"], rows });
          const headers = { "x-auth-token": token, "x-api-key": key, cookie: `a=1; session=${cookie}` };
          const spelled = ({ encoding, which }: (typeof inRows)[number]): string =>
            encodings[encoding]?.([...hidden, cookie][which] ?? "") ?? "";
          const values = Object.fromEntries(inRows.map((one) => [one.label, spelled(one)]));
          recording.take(
            passing("insertmicroapprow", { microAppID: "things", rowData: values }, { rowID: "row-1" }, { headers }),
          );
          const row = {
            _id: "row-1",
            userID: "the-id-of-the-admin",
            submitted: 5,
            ...values,
            "First name": person.name,
          };
          recording.take(
            passing("microappdata", { microAppID: "things" }, { body: { microAppRows: [row] } }, { headers }),
          );
          recording.take(login(email, password, token));
          for (const [index, one] of inOthers.entries()) {
            const text = spelled(one);
            const info = {
              _id: `org-${index}`,
              name: `Org ${index} ${text}`,
              description: text,
              contact: person.name,
            };
            recording.take(
              passing("readorganization", { organizationID: `org-${index}` }, { status: "success", body: info }),
            );
            const failure = { status: "failure", message: `No: ${text} of ${person.name}` };
            recording.take(passing("readteam", { teamID: text.slice(0, 150) }, failure, { status: 404 }));
          }
          const { leaves, isClean } = written(recording);
          expect(isClean).toBe(true);
          for (const one of [password, token, key, cookie, email, person.name]) {
            expect(leaves.filter((leaf) => holds(leaf, one))).toEqual([]);
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});

test("the same value has the same replacement everywhere, also inside others and encoded", () => {
  const recording = new Recording({ base: "", labels: [], rows: "values" });
  recording.take(login("ada@company.org", "correct-horse", "tok-123456789"));
  const values = {
    Plain: "ADA@company.org",
    Inside: "Ask ada@company.org, or bob@company.org.",
    Encoded: Buffer.from("mail:ada@company.org").toString("base64"),
    Json: JSON.stringify({ to: "ada@company.org" }),
    Path: "/people/ada%40company.org",
    Canada: "Canada",
  };
  const row = { _id: "row-1", userID: "the-id-of-the-admin", ...values };
  recording.take(passing("microappdata", { microAppID: "things" }, { body: { microAppRows: [row] } }));
  const { seed } = recording.made("2026-01-02");
  const { administrator, tables } = parse(seed) as {
    administrator: { email: string };
    tables: { things: { rows: { values: unknown }[] } };
  };
  expect(administrator.email).toBe("person-1@example.com");
  expect(tables.things.rows[0]?.values).toEqual({
    Plain: "person-1@example.com",
    Inside: "Ask person-1@example.com, or person-2@example.com.",
    Encoded: Buffer.from("mail:person-1@example.com").toString("base64"),
    Json: JSON.stringify({ to: "person-1@example.com" }),
    Path: "/people/person-1%40example.com",
    Canada: "Canada",
  });
});

test("names of people, phone numbers and parts of signed links are found by labels and by their form", () => {
  const recording = new Recording({ base: "", labels: ["Held by"], rows: "values" });
  const row = {
    ...{ _id: "row-1", Owner: "Grace Hopper", "Held by": "Ada", Note: "Grace and Ada called +49 30 1234567." },
    ...{ Picture: "https://files.company.org/a.png?Expires=1700000000&Signature=abcDEF%2Fghi" },
    ...{ Again: "abcDEF/ghi", Code: "Ada" },
  };
  recording.take(passing("microappdata", { microAppID: "things" }, { body: { microAppRows: [row] } }));
  const { text, isClean } = written(recording);
  expect(isClean).toBe(true);
  expect(text).not.toMatch(/Grace|Hopper|1234567|abcDEF|1700000000|Code: Ada/);
});

test("a scan that finds something says what it is, and not the value", () => {
  const recording = new Recording({ base: "", labels: [], rows: "values" });
  recording.take(login("ada@company.org", "correct-horse", "tok-123456789"));
  const { finder } = recording.made("2026-01-02");
  expect(finder.kindIn({ deep: [{ [encodeURIComponent("x ada@company.org")]: 1 }] })).toBe("email");
  expect(finder.kindIn(Buffer.from("a correct-horse").toString("base64"))).toBe("password");
  expect(finder.kindInLine("  # tok-123456789")).toBe("token");
  expect(finder.kindIn({ role: "admin", fields: {} })).toBeUndefined();
});
