import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { repository } from "../harness/project.ts";

/** A comment `@ts-expect-error: <part of the message>`. */
interface Expectation {
  file: string;
  line: number;
  text: string;
}

const room = join(repository, "testing/types");
/** Asks TypeScript's language service, as an editor does, about type tests and further programs. */
export class Editor {
  readonly expectations: readonly Expectation[];
  readonly #files: Map<string, string>;
  readonly #service: ts.LanguageService;

  /** @param more programs by name */
  constructor(more: ReadonlyMap<string, string>) {
    const tests = readdirSync(room).filter((name) => name.endsWith(".test-d.ts"));
    const texts = tests.map((name) => [name, readFileSync(join(room, name), "utf8")] as const);
    this.expectations = texts.flatMap(([name, text]) => readExpectations(name, text));
    // Without the directive the service reports what stands below it.
    const reporting = texts.map(
      ([name, text]) => [name, text.replaceAll("@ts-expect-error", "@ts-report-error")] as const,
    );
    this.#files = new Map([...reporting, ...more].map(([name, text]) => [join(room, name), text]));
    this.#service = this.#start();
  }

  #start(): ts.LanguageService {
    const options: ts.CompilerOptions = {
      ...{ target: ts.ScriptTarget.ES2024, module: ts.ModuleKind.NodeNext, lib: ["lib.es2024.d.ts"], types: ["node"] },
      ...{ strict: true, noUncheckedIndexedAccess: true, noEmit: true, skipLibCheck: true },
    };
    const read = (name: string) => this.#files.get(name) ?? ts.sys.readFile(name);
    return ts.createLanguageService({
      getCompilationSettings: () => options,
      getScriptFileNames: () => [...this.#files.keys()],
      getScriptVersion: () => "1",
      getScriptSnapshot: (name) => {
        const content = read(name);
        return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
      },
      getCurrentDirectory: () => repository,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      fileExists: (name) => this.#files.has(name) || ts.sys.fileExists(name),
      readFile: read,
      readDirectory: (...query) => ts.sys.readDirectory(...query),
      directoryExists: (name) => ts.sys.directoryExists(name),
      getDirectories: (name) => ts.sys.getDirectories(name),
    });
  }

  /** The compiler's messages about a file, each with its line from 1. */
  problemsIn(name: string): { line: number; text: string }[] {
    const file = join(room, name);
    const found = [...this.#service.getSyntacticDiagnostics(file), ...this.#service.getSemanticDiagnostics(file)];
    return found.map(({ file: source, start = 0, messageText }) => ({
      line: (source?.getLineAndCharacterOfPosition(start).line ?? 0) + 1,
      text: ts.flattenDiagnosticMessageText(messageText, "\n"),
    }));
  }

  /** The type and the text that a hover shows. */
  hoverAt(name: string, place: number): { type: string; text: string } {
    const info = this.#service.getQuickInfoAtPosition(join(room, name), place);
    const type = ts.displayPartsToString(info?.displayParts).replaceAll(/\s+/g, " ");
    return {
      type: type.replace(/^\(alias\) (.*) import \w+$/, "$1"),
      text: ts.displayPartsToString(info?.documentation).replaceAll(/\s+/g, " "),
    };
  }

  /** The names that an editor offers to complete, sorted: the compiler's own order varies with the program. */
  offersAt(name: string, place: number): string[] {
    const offers = this.#service.getCompletionsAtPosition(join(room, name), place, {})?.entries ?? [];
    return offers
      .map((offer) => offer.name)
      .filter((offered) => !offered.startsWith("__"))
      .sort();
  }

  /** Exports of a module of the package, by the path of its declarations, with properties and methods of ours. */
  exportsOf(path: string): { name: string; parts: { name: string; text: string }[] }[] {
    const program = this.#service.getProgram();
    const checker = program?.getTypeChecker();
    const source = program?.getSourceFile(join(repository, path));
    const module = source && checker?.getSymbolAtLocation(source);
    if (!module || !checker) throw new Error(`${path} is not part of the program`);
    const isOurs = ({ declarations = [] }: ts.Symbol) =>
      declarations.some((declaration) => declaration.getSourceFile().fileName.startsWith(join(repository, "dist")));
    return checker.getExportsOfModule(module).map((symbol) => {
      const named = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      const hasParts = (named.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)) !== 0;
      const parts = hasParts ? checker.getDeclaredTypeOfSymbol(named).getProperties().filter(isOurs) : [];
      return {
        name: named.name,
        parts: [named, ...parts.filter(({ name }) => !name.includes("#"))].map((part) => ({
          name: part === named ? named.name : `${named.name}.${part.name}`,
          text: ts.displayPartsToString(part.getDocumentationComment(checker)),
        })),
      };
    });
  }
}

const readExpectations = (file: string, text: string): Expectation[] =>
  text.split("\n").flatMap((content, index) => {
    const error = /^ *\/\/ @ts-expect-error: (.*)$/.exec(content)?.[1];
    return error === undefined ? [] : [{ file, line: index + 1, text: error }];
  });
