import { randomBytes } from "node:crypto";
import path from "node:path";
import {
  EngineError,
  isPipeline,
  printable,
  printableJson,
  withoutCommands,
  type Terminal,
} from "../../../engine/index.ts";
import { whyUnwritable } from "../../../machine/ownFile.ts";
import { loadFacts } from "../../../provider/conformance/load.ts";
import { readProfile } from "../../../provider/layers/profileFile.ts";
import { subjectOf, type Subject } from "../doctor/subject.ts";
import { progressLine } from "../progressLine.ts";
import { toSandboxNames, checkFlags, factsOf, readOrRefuse, type VerifyOptions } from "./options.ts";
import type { VerifyOutcome } from "./outcome.ts";
import { writeProfile } from "./profileFile.ts";
import { screenOf } from "./rendering.ts";
import { onPlatform, type Work } from "./running.ts";
import { refuseManaged } from "./sandbox/guarding.ts";
import { journalFolder } from "./sandbox/journal.ts";
import { makeSandboxSeed } from "./sandbox/tables.ts";

/** Columns where the output has no width. */
const widthOfPipes = 100;

/** Tries the facts and prints what came of them; the answer is the exit status. */
export async function runVerify(options: VerifyOptions, terminal: Terminal, more: Partial<Work> = {}): Promise<number> {
  if (options.printSandbox === true) {
    terminal.output.write(makeSandboxSeed());
    return 0;
  }
  checkFlags(options);
  const subject = await subjectOf(options, terminal);
  const { settings, mask } = subject;
  if (!settings) throw new EngineError(mask.hide(subject.finding.seen), 2);
  if (settings.readOnly === true) {
    throw new EngineError("nothing was sent: microapps:readOnly refuses what verify does", 2);
  }
  if (settings.email === undefined || settings.password === undefined) {
    throw new EngineError("nothing was sent: verify logs in, so it needs microapps:email and microapps:password", 2);
  }
  const folder = journalFolder(terminal.environment);
  if (folder === undefined) {
    throw new EngineError(
      "nothing was sent: what a run makes is written down before, and there is no folder for it: set XDG_CACHE_HOME to a folder of your own",
      2,
    );
  }
  const names = options.clean === true ? undefined : toSandboxNames(options);
  if (names) await refuseManaged(names, subject, options, terminal);
  const { profile, writeProfile: written, cwd = "." } = options;
  const reason = written === undefined ? undefined : whyUnwritable(path.resolve(cwd, written));
  if (reason !== undefined) {
    throw new EngineError(`nothing was sent: the profile ${written ?? ""} can't be written: ${reason}`, 2);
  }
  const earlier = profile === undefined ? undefined : readOrRefuse(() => readProfile(path.resolve(cwd, profile)));
  const progress = progressLine(terminal.errors);
  const work: Work = {
    ...{ subject, settings, folder, names, earlier, options },
    facts: names ? loadFacts() : [],
    more: factsOf(options),
    mark: `mv${randomBytes(5).toString("hex")}`,
    show: (text) => progress.show(mask.hide(text)),
    warn: (text) => terminal.errors.write(`${printable(mask.hide(text), false)}\n`),
    now: Date.now,
    ...more,
  };
  let outcome: VerifyOutcome | undefined;
  try {
    outcome = await onPlatform(work);
  } finally {
    progress.end();
  }
  if (!outcome) return 0;
  print(outcome, options, subject, terminal);
  if (options.writeProfile !== undefined) {
    const file = path.resolve(cwd, options.writeProfile);
    terminal.errors.write(`${await writeProfile(file, outcome.profile, terminal, options)}\n`);
  }
  return outcome.status;
}

function print(
  outcome: VerifyOutcome,
  { json }: VerifyOptions,
  { mask }: Subject,
  { output, environment }: Terminal,
): void {
  const columns = (output.isTTY && output.columns) || widthOfPipes; // some terminals say 0
  const text = json ? printableJson(outcome, 2) : printable(mask.hide(screenOf(outcome, columns)), false);
  output.write(`${isPipeline(environment) ? withoutCommands(text) : text}\n`);
}
