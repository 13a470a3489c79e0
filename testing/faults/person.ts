import { readFile, writeFile } from "node:fs/promises";
import type { Stage } from "../harness/stage.ts";

/** Messages that stop a run until a person has looked. */
const questions = {
  app: /a generation of this app was started at \S+ and its answer never arrived, so it may exist/,
  notification: /whether the notification to \S+ was sent at \S+ is not known/,
};

/** Runs up until it succeeds, as a person does: it may fail with each question once, and with nothing else. */
export async function persist(up: () => Promise<void>, stage: Stage): Promise<void> {
  const asked = new Set<string>();
  for (;;) {
    try {
      await up();
      return;
    } catch (error) {
      const said = String(error);
      const [question] = Object.entries(questions).find(([, words]) => words.test(said)) ?? [];
      if (question === undefined || asked.has(question)) throw error;
      asked.add(question);
      if (question === "app") await lookForApp(said, stage);
    }
  }
}

/** Does what the message asks for: writes the app's link into its line where it was made, and deletes the line where it was not. */
async function lookForApp(said: string, { emulator, host }: Stage): Promise<void> {
  const [, path = ""] = /write its link as "link" into its line of (\S+);/.exec(said) ?? [];
  const app = emulator
    .differences("start")
    .find(({ table }) => table === "apps")
    ?.added.at(-1);
  const link = `https://apps.example.com/workspace/apps/${app ?? ""}`;
  const lines = (await readFile(path, "utf8")).split("\n").flatMap((line) => {
    if (!line.includes('"GeneratedApp"')) return [line];
    return app === undefined ? [] : [JSON.stringify({ ...(JSON.parse(line) as object), link })]; // written by the provider
  });
  await writeFile(path, lines.join("\n"));
  await host.restart();
}
