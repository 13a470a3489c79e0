/** Runs command lines of the executable one after the other in one process, each as if it had a process of its own. */

/** A command line, with the folder and the environment of its process. */
export interface Command {
  words: readonly string[];
  folder: string;
  environment: Readonly<Record<string, string | undefined>>;
}

/** How a command line ended. */
export interface Answer {
  status: number;
  output: string;
}

const home = process.cwd();
let count = 0;

// Whatever a command has left open, such as an emulator, ends with the process that runs the tests.
const exit = process.exit.bind(process);
process.on("disconnect", () => exit(0));

const exitCode = (): number => Number(process.exitCode ?? 0);

async function run({ words, folder, environment }: Command): Promise<Answer> {
  process.chdir(folder);
  for (const name of Object.keys(process.env)) if (!(name in environment)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, environment);
  process.argv = [process.execPath, "microapps", ...words];
  process.exitCode = undefined;
  let output = "";
  let status: number | undefined;
  for (const stream of [process.stdout, process.stderr]) {
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
  const program = (await import(`../../cli/commands/program.js?${count++}`)) as { run: () => Promise<unknown> };
  await program.run().catch((error: unknown) => {
    if (status === undefined) throw error;
  });
  process.chdir(home);
  return { status: status ?? exitCode(), output };
}

process.on("message", (command: Command) => {
  void run(command).then((answer) => process.send?.(answer));
});
