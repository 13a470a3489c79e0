import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { marked, type Token } from "marked";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changeSet, type ChangeSet } from "./changeSet.ts";
import { code, json, markdown, render, reportSchema, terminal } from "./rendering.ts";
import { environment, row, seed, set } from "./testing/made.ts";

const strings = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string(),
  fc.constantFrom(
    "</code></td>| a | b |",
    "-->",
    "\n\n# heading",
    "[x](https://evil.example)",
    "![x](y)",
    "@everyone #1 !2",
    "`code`",
    "$x$ $`y`$",
    "<script>alert(1)</script>",
    "a|b",
    "\\",
    "&lt;b&gt;",
    "https://evil.example www.evil.example",
    "ada@example.com",
    "- [ ] task",
    "~~x~~ **y**",
    "\u202Eabc",
    "::error::x",
    "</details>",
    "\r\n::set-output name=x::y",
    "раypal",
  ),
);
const reportWith = (text: string): ChangeSet =>
  set(
    [
      environment(
        [seed([row(text, text, text)], { name: text, formerly: text, notes: [text], guards: [text], place: text })],
        {
          name: text,
          problems: [{ text, place: text }],
          flags: [{ text, place: text }],
          notes: [text],
          pending: { compared: false, why: text, things: [] },
        },
      ),
    ],
    { base: { ref: text, commit: "0".repeat(40) }, alsoChanged: { count: 2, files: [text] } },
  );

describe("Markdown", () => {
  test("is not taken for unchanged when something could not be compared, is flagged or stops", () => {
    const uncompared = environment([], { change: { compared: false, why: "the base is broken", things: [] } });
    for (const each of [
      uncompared,
      environment([], { flags: [{ text: "f" }] }),
      environment([], { problems: [{ text: "p" }] }),
    ]) {
      expect(markdown(set([each])).split("\n").length).toBeGreaterThan(5);
    }
    expect(markdown(set([uncompared]))).toContain("<code>not compared&#58; the base is broken</code>");
  });

  test("has at most 60,000 bytes however large the change, says what was cut, and counts all", () => {
    const rows = Array.from({ length: 10_000 }, (_, at) => row(`key ${at} "<|>`, "x".repeat(90), "ü".repeat(90)));
    const things = [
      seed(rows, { omitted: 500, rows: { add: 500, change: 10_000, remove: 0, same: 1 } }),
      seed([row("Z")], { name: "last" }),
    ];
    const text = markdown(set([environment(things)]));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(60_000);
    expect(Buffer.byteLength(text)).toBeGreaterThan(50_000);
    expect(text).toContain("10000 rows changed, 500 rows added");
    expect(text).toContain("<code>Z</code>"); // a small thing behind a large one has its room
    const shown = text.match(/^\| ~ \| row/gm)?.length ?? 0;
    expect(text).toContain(`Cut here: ${10_001 - shown} changes.`);
    const wide = markdown(
      set(
        Array.from({ length: 900 }, (_, at) =>
          environment([seed([row("A")], { name: `seed-${at}` })], { name: `environment-${at}` }),
        ),
      ),
    );
    expect(Buffer.byteLength(wide)).toBeLessThanOrEqual(60_000);
    expect(wide).toMatch(/Cut here: \d+ lines of the tables/);
  });

  test("the same report makes the same bytes, in every format", () => {
    const one = set([environment([seed([row("A")])])]);
    for (const format of ["md", "json", "text"] as const)
      expect(render(structuredClone(one), format)).toBe(render(one, format));
  });

  const treeOf = (tokens: readonly Token[]): unknown[] =>
    tokens.map((token) => {
      const more = token as {
        tokens?: Token[];
        items?: { tokens: Token[] }[];
        header?: { tokens: Token[] }[];
        rows?: { tokens: Token[] }[][];
        block?: boolean;
      };
      const tag = token.type === "html" ? /^<\/?[a-z]+|^<!--/.exec(token.raw)?.[0] : undefined;
      return [
        token.type,
        tag,
        more.tokens && treeOf(more.tokens),
        more.items?.map((item) => treeOf(item.tokens)),
        more.header?.map((cell) => treeOf(cell.tokens)),
        more.rows?.map((cells) => cells.map((cell) => treeOf(cell.tokens))),
      ];
    });
  /** Without what a text itself may add: comments between its parts, and the mark of mixed letters behind it. */
  const plain = (text: string): string =>
    text.replaceAll("<!-- -->", "").replaceAll(" ⚠ letters of several scripts", "");
  const tree = (text: string): string => JSON.stringify(treeOf(marked.lexer(plain(text), { gfm: true })));
  test("any texts of others make the same tree as a plain word does", () => {
    const wanted = tree(markdown(reportWith("word")));
    fc.assert(
      fc.property(strings, (text) => {
        expect(tree(markdown(reportWith(text)))).toBe(wanted);
      }),
      { numRuns: 150 },
    );
  });

  test("no text of others begins a line or stands outside of an element", () => {
    fc.assert(
      fc.property(strings, (text) => {
        const made = code(text, 200).replace(" ⚠ letters of several scripts", "");
        expect(made).toMatch(/^<code>(?:[\p{L}\p{M}\p{N} ]|&#\d+;|<!-- -->)+<\/code>$/u);
      }),
    );
    expect(code("ada@example.com", 50)).toBe("<code>ada&#64;<!-- -->example&#46;com</code>");
    expect(code("раypal", 50)).toContain("letters of several scripts");
    expect(code("\u202Eevil\u200b", 50)).toBe("<code>&#92;u202eevil&#92;u200b</code>");
  });
});

describe("JSON", () => {
  const file = join(import.meta.dirname, "../../../docs/report.schema.json");
  test("has a published schema", () => {
    const text = `${JSON.stringify(reportSchema(), null, 2)}\n`;
    if (process.env["UPDATE_SCHEMA"]) writeFileSync(file, text);
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("is the model again, and holds no control or invisible character raw", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const one = set([environment([seed([row(text)])])]);
        const written = json(one);
        expect(changeSet.parse(JSON.parse(written))).toEqual(one);
        expect(written).not.toMatch(/[\u202a-\u202e\u2028\u2029\u200b\u0080-\u009f]/u);
      }),
    );
  });
});

describe("the terminal", () => {
  test("shows removals, guards and counts in plain lines", () => {
    const text = terminal(set([environment([seed([row("A")], { guards: ["too many"] })])]));
    expect(text).toBe(
      [
        "Compared with main (0123456789ab)",
        "",
        "prod",
        "  stopped: cities: too many",
        "  this change",
        "  ~ seed cities changed: 1 row changed",
        "      ~ A: Name a → b",
        "",
      ].join("\n"),
    );
  });

  test("nothing of others moves the cursor, breaks a line or speaks to a pipeline", () => {
    fc.assert(
      fc.property(strings, (text) => {
        const written = terminal(reportWith(text));
        expect(written).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
        expect(written.split("\n").length).toBe(terminal(reportWith("word")).split("\n").length);
      }),
    );
  });
});
