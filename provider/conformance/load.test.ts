import { expect, test } from "@jest/globals";
import { FactsError, parseFacts } from "./load.ts";

const head = `version: 1
facts:
  login:
    rule: begins a session
    evidence: { kind: documented, place: somewhere }
    steps:
`;
const good = `${head}      - { call: login, with: { email: $admin.email }, answer: { authToken: $text }, keep: { token: authToken } }\n`;

/** The loader's messages about a text. */
function said(text: string): string[] {
  try {
    parseFacts(text, "x.yaml");
  } catch (error) {
    if (error instanceof FactsError) return error.message.split("\n");
    throw error;
  }
  return [];
}

test("a facts file gives facts with all of their steps", () => {
  const text = `${good}    after: start
beginnings:
  start:
    - { call: userid, with: { email: $member.email }, keep: { user: userID } }
`;
  expect(said(text)).toEqual([]);
  expect(parseFacts(text, "family.yaml")).toMatchObject([
    {
      id: "login",
      section: "family",
      evidence: { kind: "documented", place: ["somewhere"] },
      steps: [{ call: "userid" }, { call: "login", as: "admin" }],
    },
  ]);
});

const step = (text: string): string => `${head}      - { ${text} }\n`;
const mistakes: [what: string, text: string, problem: string][] = [
  ["a property", step("call: login, anwser: {}"), "x.yaml:7:24: facts.login.steps.0.anwser: is not known here"],
  ["an endpoint", step("call: logni"), "x.yaml:7:11: facts.login.steps.0.call: must be login, logout"],
  [
    "a matcher",
    step("call: login, answer: { a: { $lenght: 1 } }"),
    "x.yaml:7:39: facts.login.steps.0.answer.a.$lenght: there is no matcher $lenght; did you mean $length?",
  ],
  [
    "an operator in place of a word",
    step("call: login, answer: { a: $match }"),
    "x.yaml:7:34: facts.login.steps.0.answer.a: there is no matcher $match",
  ],
  [
    "a pattern",
    step('call: login, answer: { $match: "(" }'),
    "x.yaml:7:34: facts.login.steps.0.answer.$match: must be a regular expression",
  ],
  [
    "two matchers in one",
    step("call: login, answer: { $least: 1, $not: 2 }"),
    "must stand alone; join matchers by $all",
  ],
  [
    "a name",
    step("call: login, with: { email: $admin.emial }"),
    'x.yaml:7:32: facts.login.steps.0.with.email: "admin.emial" is not known; did you mean "admin.email"?',
  ],
  ["a name within a text", step('call: login, with: { email: "x${frist}" }'), '"frist" is not known'],
  [
    "a name before it is kept",
    `${head}      - { call: userid, with: { email: $later } }\n      - { call: login, keep: { later: userId } }\n`,
    '"later" is not known',
  ],
  [
    "a step without a call",
    step("with: {}"),
    "x.yaml:7:9: facts.login.steps.0: must have one of call, fetch and emulator",
  ],
  [
    "a password that is sent elsewhere",
    step("call: insertmicroapprow, with: { rowData: { Name: $admin.password } }"),
    "facts.login.steps.0.with.rowData.Name: must be a login's password, or stand in as",
  ],
  [
    "a key in an address",
    step('fetch: "https://x.test/${admin.apiKey}"'),
    "facts.login.steps.0.fetch: must be a login's",
  ],
  [
    "a part of a login that is kept",
    step("call: login, keep: { token: { at: authToken, match: ^. } }"),
    "facts.login.steps.0.keep.token: must be a whole value",
  ],
  ["an alternative without a habit", step("call: login, otherwise: { ok: { answer: {} } }"), "needs the fact's habit"],
  [
    "a value of a habit",
    `${step("call: login, otherwise: { nowhere: { answer: {} } }")}    habit: loginEnvelope\n`,
    "must be one of top, data",
  ],
  ["a presumed value", `${step("call: login")}    presumes: { skip: no }\n`, "must be one of honoured, ignored"],
  ["a presumed habit", `${step("call: login")}    presumes: { skips: ignored }\n`, "x.yaml:8:17: facts.login.presumes"],
  [
    "a beginning",
    `${step("call: login")}    after: start\n`,
    'x.yaml:8:5: facts.login.after: there is no beginning "start"',
  ],
  [
    "the kind of evidence",
    good.replace("documented", "guessed"),
    "x.yaml:5:17: facts.login.evidence.kind: must be documented, client, recorded or assumed",
  ],
  ["an ID", good.replace("  login:", "  logins:"), "x.yaml:3:3: facts.logins: must begin with an endpoint"],
  ["a version", good.replace("version: 1", "version: 2"), "x.yaml:1:1: version: must be 1"],
  ["the YAML", `${good}  login: [`, "is not valid YAML"],
  [
    "a fact that is there twice",
    `${good}${good.slice(good.indexOf("  login"))}`,
    "x.yaml:8:3: is not valid YAML: Map keys must be unique",
  ],
];

test.each(mistakes)("a mistake in %s is named with its place", (_what, text, problem) => {
  expect(said(text).join("\n")).toContain(problem);
});

test("names of this file and of matchers are no mistakes", () => {
  expect(said(step('call: login, with: { a: $unique, b: "${unknown}@x", $gt: 1 }, answer: { a: $any }'))).toEqual([]);
});
