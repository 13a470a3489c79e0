/** Runs command lines of the executable one after the other in one process, each as if it had a process of its own. */

const writing = [process.stdout, process.stderr];
let count = 0;

/** How a command line ended. */
export interface Answer {
  status: number;
  output: string;
}

const exitCode = (): number => Number(process.exitCode ?? 0);

async function run(words: readonly string[], folder: string): Promise<Answer> {
  process.chdir(folder);
  process.argv = [process.execPath, "microapps", ...words];
  process.exitCode = undefined;
  let output = "";
  let status: number | undefined;
  for (const stream of writing) {
    stream.removeAllListeners("error");
    stream.write = (text: string | Uint8Array) => {
      if (status === undefined) output += String(text);
      return true;
    };
  }
  process.exit = (code) => {
    status ??= code == null ? exitCode() : Number(code);
    throw new Error("the command line has ended");
  };
  // Another name makes it another program, with nothing left of the last one.
  await import(`../../provider/cmd/program.js?${count++}`).catch((error: unknown) => {
    if (status === undefined) throw error;
  });
  return { status: status ?? exitCode(), output };
}

process.on("message", ({ words, folder }: { words: string[]; folder: string }) => {
  void run(words, folder).then((answer) => process.send?.(answer));
});
