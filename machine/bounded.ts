import {
  Composer,
  type Document,
  type DocumentOptions,
  Lexer,
  type LineCounter,
  Parser,
  type ParseOptions,
  type SchemaOptions,
  YAMLParseError,
} from "yaml";
import { BoundError, tooDeep, tooMany, type Bounds } from "./bounds.ts";

/** Bounds of every file of settings: what is written by hand is far below them. */
export const ofSettings: Bounds = { levels: 100, values: 100_000 };

type Options = ParseOptions & DocumentOptions & SchemaOptions & { lineCounter: LineCounter };

/**
 * Parses one YAML document. The tokens are counted before anything is composed of them, which takes time that grows with
 * the square of the depth. Throws a BoundError.
 */
export function parseBounded(text: string, options: Options, bounds: Bounds = ofSettings): Document.Parsed {
  const parser = new Parser(options.lineCounter.addNewLine);
  options.lineCounter.addNewLine(0); // as the parser itself does for a whole text
  const composer = new Composer({ ...options, prettyErrors: false, uniqueKeys: false });
  const tokens = counted(text, parser, bounds);
  const [document, second] = composer.compose(tokens, true, text.length);
  if (document === undefined) throw new Error("the parser makes a document of every text");
  if (second) {
    const [start] = second.range;
    document.errors.push(new YAMLParseError([start, start + 1], "MULTIPLE_DOCS", "a second document begins here"));
  }
  return document;
}

/** The tokens of a text, none before all of them are counted. Throws a BoundError. */
function* counted(text: string, parser: Parser, bounds: Bounds): ReturnType<Parser["next"]> {
  const tokens = [];
  let [values, marks, offset, line, work] = [0, 0, 0, 0, 0];
  for (const lexeme of new Lexer().lex(text)) {
    // Each value is a scalar, an alias or a collection, as is each key; one without text stands behind a mark.
    if (/^[\x1f"'*[{|>]/.test(lexeme)) values++;
    else if (lexeme === "-" || lexeme === ":" || lexeme === "?" || lexeme === ",") marks++;
    if (Math.max(values, marks) > 2 * bounds.values) throw new BoundError(tooMany(bounds), offset);
    // The lexer looks for the end of the line with each token.
    if (offset >= line) line = endOfLine(text, offset);
    work += line - offset;
    if (work > maxWork) throw new BoundError("has too many values on one line; break it into lines", offset);
    tokens.push(...parser.next(lexeme));
    // The document itself stands lowest, and what is being read highest.
    if (parser.stack.length > bounds.levels + 2) throw new BoundError(tooDeep(bounds), offset);
    offset += lengthOf(lexeme);
  }
  tokens.push(...parser.end());
  yield* tokens;
}

/** The lexer's own marks are no part of the text. */
const lengthOf = (lexeme: string): number => (/^[\x02\x18\x1f]$/.test(lexeme) ? 0 : lexeme.length);

/** Characters that may be looked at for the ends of lines, which takes a few seconds. */
const maxWork = 5 * 10 ** 10;

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end + 1;
}
