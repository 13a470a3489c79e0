import type * as Yaml from "yaml";
import { parseBounded } from "../../../machine/settings/bounded.ts";
import { BoundError } from "../../../machine/settings/bounds.ts";
import { quote } from "../../../platform/messages/text.ts";
import { explainMisnamed } from "../../layers/document.ts";
import { isRounded, rounded } from "./exactNumbers.ts";
import { rowOf } from "./jsonRows.ts";
import { nameless, noName } from "./nameless.ts";
import { isHidden, type Reading, type SourceRow } from "./source.ts";

/** The rows of a YAML list. */
export async function yamlRows(reading: Reading, text: string): Promise<SourceRow[]> {
  // Loaded when it is needed: most sources are not YAML.
  const yaml = await import("yaml");
  const counter = new yaml.LineCounter();
  const document = bounded(reading, counter, () =>
    parseBounded(text, { lineCounter: counter, merge: true }, ofYamlRows),
  );
  const refuse = (offset: number, reason: string): never => reading.refuse(counter.linePos(offset).line, reason);
  const [error] = document.errors;
  if (error) {
    const several = error.code === "MULTIPLE_DOCS";
    // The parser may quote what stands there.
    const { sensitive, secretLabels = [] } = reading.source;
    const reason = `is not valid YAML: ${sensitive || secretLabels.length > 0 ? "correct it" : (error.message.split("\n")[0] ?? "")}`;
    refuse(error.pos[0], several ? "a second document begins here: make it one list" : reason);
  }
  refuseWhatIsLost(yaml, document, reading, refuse);
  const { contents } = document;
  if (contents === null || (yaml.isScalar(contents) && contents.value === null)) return [];
  if (!yaml.isSeq(contents)) return reading.refuse(1, "must be a list of rows: begin each row with - ");
  const rows = document.toJS() as unknown[]; // a list, as was just seen
  return rows.flatMap((values, index) => {
    const node = contents.items[index] as { range?: [number, number, number] } | undefined; // any YAML node
    const { line } = counter.linePos(node?.range?.[0] ?? 0);
    return rowOf(line, values, reading.wrong);
  });
}

function bounded<Answer>(reading: Reading, counter: Yaml.LineCounter, parse: () => Answer): Answer {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof BoundError)) throw error;
    return reading.refuse(Math.max(1, counter.linePos(error.offset).line), error.message);
  }
}

/** Bounds of rows in YAML, which is never streamed. */
export const ofYamlRows = { levels: 100, values: 250_000 };

/** Ends where the values of JavaScript would say something else than the text, or less. */
function refuseWhatIsLost(
  { isMap, isScalar, visit }: typeof Yaml,
  document: Yaml.Document,
  { source: declared }: Reading,
  refuse: (offset: number, reason: string) => never,
): void {
  const anchors = new Set<string>();
  const named = ({ source, value, range }: Yaml.Scalar, what: string, isSecret = declared.sensitive): void => {
    const isLost = typeof value === "number" && isRounded(source ?? "", value); // which `Value` tells
    const reason = isLost ? undefined : explainMisnamed(source, value, isSecret);
    if (reason !== undefined) refuse(range?.[0] ?? 0, `${what}: ${reason}`);
  };
  visit(document, {
    Alias: (_, { source, range }) => {
      const which = declared.sensitive ? "of this name" : quote(source);
      if (!anchors.has(source)) refuse(range?.[0] ?? 0, `no anchor ${which} stands before this`);
    },
    Pair: (_, { key, value }) => {
      if (!isScalar(key)) return;
      named(key, "a label");
      if (isScalar(value)) named(value, String(key.value), isHidden(declared, String(key.value)));
    },
    Value: (_, node) => {
      if (node.anchor !== undefined) anchors.add(node.anchor);
      // The parser would compare each key with all others.
      const labels = isMap(node) ? node.items.map(({ key }) => key).filter(isScalar) : [];
      const seen = new Set<unknown>();
      for (const { value, source, range } of labels) {
        if (source === "<<") continue; // may stand there several times
        if (value === nameless) refuse(range?.[0] ?? 0, noName);
        const which = declared.sensitive ? "this label" : `the label ${quote(String(value))}`;
        if (seen.size === seen.add(value).size) refuse(range?.[0] ?? 0, `${which} stands twice in one row: remove one`);
      }
      if (!isScalar(node) || typeof node.value !== "number") return;
      if (!Number.isFinite(node.value))
        refuse(node.range?.[0] ?? 0, "a row can't hold this number: write another one, or quote it");
      if (isRounded(node.source ?? "", node.value)) refuse(node.range?.[0] ?? 0, `a number ${rounded}`);
    },
  });
}
