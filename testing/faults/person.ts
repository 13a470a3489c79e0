import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
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

/** Does what the message asks for: writes the app's link down where it was made, and forgets it where it was not. */
async function lookForApp(said: string, { emulator, host }: Stage): Promise<void> {
  const [, file = ""] = /write its link as "link" into (\S+);/.exec(said) ?? [];
  const path = join(host.folder, file);
  const app = emulator
    .differences("start")
    .find(({ table }) => table === "apps")
    ?.added.at(-1);
  if (app === undefined) {
    await rm(path);
    return;
  }
  const intent = JSON.parse(await readFile(path, "utf8")) as object; // the provider wrote an object
  await writeFile(path, JSON.stringify({ ...intent, link: `https://apps.example.com/workspace/apps/${app}` }));
}
