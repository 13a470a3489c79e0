// Counts words that readers of this project would not meet elsewhere, and refuses more of them than tools/scripts/words.json
// allows. Fewer is welcome: `node tools/scripts/words.mjs --write` lowers the numbers. `--list NAME` names each place.
// Part of `make check`.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import ts from "typescript";

const allowedFile = new URL("./words.json", import.meta.url);
const files = globSync("{cli,emulator,engine,machine,provider,sdk,testing,tools}/**/*.ts", {
  exclude: ["**/node_modules", "**/testdata", "**/released"],
});
const isTest = (file) => /\.(test|test-d|browser|range|docker)\.ts$|(^|\/)testing\//.test(file);

/** Bare participles and adjectives that stood for a verb or a noun in names of functions. */
const participle =
  /^(?!(seed|need|feed|embed|speed)(?=$|[A-Z]))(known|shown|made|found|kept|seen|own|drawn|bound|taken|written|hidden|visible|reachable|nothing|clean|plain|again|absent|above|most|leaving|holding|growing|failing|lasting|changing|differing|matching|replacing|removing|[a-z]+ed)(?=$|[A-Z])/;
/** The same words in exported names. */
const ownName =
  /(?:^(?:door|bed|keeper|departed|spared|manner)|(?:Door|Bed|Keeper|Departed|Spared|Manner))s?(?=$|[A-Z])|^most[A-Z]/;
/** Words of this project's own and the field's word for each. */
const ownWords = {
  limit: /\bmost(Rows|Tables|Removals|Files|Bytes)\b/g,
  sandbox: /(?<!-)\b(test )?beds?\b/gi,
  "lock mode": /\bcompany\b/gi,
  owner: /\bkeepers?\b/gi,
  tombstone: /\bdeparted\b/gi,
  "provider kind": /(?<!microapps:)\bdoors?\b/gi,
  dialect: /\bmanners?\b/gi,
};

const places = { participles: [], openings: [], speech: [], ownWords: [], ownNames: [], homonyms: [] };
const exported = new Map();

/** A comment behind code on the same line. */
const behindCode = /^(.*\S)\s+\/(?:\/|\*\*?)\s(.*?)(?:\s*\*\/)?$/;

function examineComments(file, text) {
  let comment = [];
  let first = 0;
  const examine = () => {
    if (comment.length === 0) return;
    const prose = comment.join(" ").trim();
    const place = `${file}:${first}: ${prose.slice(0, 100)}`;
    if (/^(What|Whether|Who|Of)\b/.test(prose)) places.openings.push(place);
    for (const _ of prose.matchAll(/\b(told|tells|says|said|anew|none but|as it is|that is had)\b/gi))
      places.speech.push(place);
    for (const [word, pattern] of Object.entries(ownWords))
      for (const _ of prose.matchAll(pattern)) places.ownWords.push(`${place} (${word})`);
    comment = [];
  };
  text.split("\n").forEach((line, index) => {
    const [, code, words] =
      /^(\s*)(?:\/\*\*?|\*(?!\/)|\/\/)\s?(.*?)(?:\s*\*\/)?$/.exec(line) ?? behindCode.exec(line) ?? [];
    const starts = /^\s*\/\*/.test(line) || code?.trim() !== "";
    if (words === undefined || starts) examine();
    if (words === undefined) return;
    if (comment.length === 0) first = index + 1;
    comment.push(words.trim());
  });
  examine();
}

function examineExports(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  for (const statement of source.statements) {
    if (!ts.canHaveModifiers(statement)) continue;
    if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) continue;
    const named = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
    for (const declaration of named) {
      if (!declaration.name || !ts.isIdentifier(declaration.name)) continue;
      const name = declaration.name.text;
      const isFunction =
        ts.isFunctionDeclaration(declaration) ||
        (declaration.initializer &&
          (ts.isArrowFunction(declaration.initializer) || ts.isFunctionExpression(declaration.initializer)));
      if (isFunction && participle.test(name)) places.participles.push(`${file}: ${name}`);
      if (ownName.test(name)) places.ownNames.push(`${file}: ${name}`);
      exported.set(name, (exported.get(name) ?? new Set()).add(file));
    }
  }
}

for (const file of files) {
  const text = readFileSync(file, "utf8");
  examineComments(file, text);
  if (!isTest(file)) examineExports(file, text);
}
for (const [name, where] of exported)
  if (where.size > 1 && /^[A-Z]/.test(name)) places.homonyms.push(`${name}: ${[...where].join(", ")}`);

const counts = Object.fromEntries(Object.entries(places).map(([name, found]) => [name, found.length]));
const listed = process.argv.indexOf("--list");
if (listed > 0) console.log((places[process.argv[listed + 1]] ?? []).join("\n"));
else if (process.argv.includes("--write")) writeFileSync(allowedFile, `${JSON.stringify(counts, null, 2)}\n`);
else {
  const allowed = JSON.parse(readFileSync(allowedFile, "utf8"));
  for (const [name, count] of Object.entries(counts))
    if (count > allowed[name]) {
      console.error(
        `${name}: ${count}, at most ${allowed[name]} are allowed: node tools/scripts/words.mjs --list ${name} names them`,
      );
      process.exitCode = 1;
    }
}
