import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { EngineError } from "../errors.ts";
import { oneLine, printable, printableJson } from "./text.ts";

/** The streams and the environment of a command; default: the process's own. */
export interface Terminal {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
  errors: NodeJS.WriteStream;
  environment: NodeJS.ProcessEnv;
}

export const processTerminal: Terminal = {
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  environment: process.env,
};

/** True if a person can be asked. */
export const isInteractive = ({ input, output, environment }: Terminal, nonInteractive: boolean): boolean =>
  !nonInteractive && input.isTTY && output.isTTY && !environment["CI"];

/** Asks until a person chooses an answer; its first letters suffice, none for the usual one. The question may quote names. */
export async function ask(terminal: Terminal, question: string, answers: readonly string[], usual = "") {
  const { createInterface } = await import("node:readline/promises"); // few commands ask
  const lines = createInterface({ input: terminal.input, output: terminal.output });
  const prompt = `${oneLine(question)} [${answers.join("/")}] ${usual && `(${usual}) `}`;
  const interrupted = new Promise<never>((_, reject) => {
    lines.once("close", () => reject(new EngineError("there was no answer, so nothing was done")));
  });
  try {
    for (;;) {
      const typed = await Promise.race([lines.question(prompt), interrupted]);
      const answer = typed.trim().toLowerCase() || usual;
      const matches = answers.filter((choice) => answer !== "" && choice.startsWith(answer));
      if (matches[0] !== undefined && matches.length === 1) return matches[0];
    }
  } finally {
    interrupted.catch(() => undefined);
    lines.close();
  }
}

/** Reads a line that a person types; a secret one is not shown. */
export async function readTyped({ input, output }: Terminal, prompt: string, secret: boolean): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input, output: secret ? silent : output, terminal: true });
  if (secret) output.write(prompt); // only now, when what is typed is not shown any more
  try {
    return await Promise.race([
      lines.question(secret ? "" : prompt), // it starts the line over, and would erase an earlier prompt
      new Promise<never>((_, reject) => lines.once("close", () => reject(new EngineError("nothing was typed")))),
    ]);
  } finally {
    lines.close();
    if (secret) output.write("\n");
  }
}

/** Reads standard input to its end, without the last newline. */
export async function readAll({ input }: Terminal): Promise<string> {
  return (await text(input)).replace(/\r?\n$/, "");
}

/** Prints a value: unchanged for a script, without control characters on a terminal. */
export function printValue({ output }: Terminal, text: string): void {
  output.write(`${output.isTTY ? printable(text, false) : text}\n`);
}

export function printJson({ output }: Terminal, value: unknown): void {
  output.write(`${printableJson(value, 2)}\n`);
}
