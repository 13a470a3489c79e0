import { resolve } from "node:path";
import { EngineError, printable } from "../../../engine/index.ts";
import { waitForInterrupt, runCommand } from "../../../machine/commands.ts";
import { isLoopback } from "../../../machine/hosts.ts";
import { whyUnwritable } from "../../../machine/ownFile.ts";
import { loadFacts } from "../../../provider/conformance/load.ts";
import type { Profile } from "../../../provider/habits/profile.ts";
import { formatCount, printableLine } from "../../../provider/messages/text.ts";
import { kinds } from "../../recording/privacy/kinds.ts";
import { Recording, type RecordingFiles } from "../../recording/recording.ts";
import { logsInWith } from "../../recording/seed.ts";
import { profileOf, yamlOf } from "../verify/profileFile.ts";
import { HabitWatch } from "./habits/watching.ts";
import { startProxy } from "./proxy.ts";
import { leakIn, refuseExisting, writeDrafts } from "./writing.ts";

/** Flags of the command. */
export interface RecordOptions {
  cwd?: string;
  to: URL;
  port: number;
  out: string;
  seed: string;
  facts: string;
  profile: string;
  rows: "shape" | "values";
  private: string[];
  force?: boolean;
}

/** Exit status where a secret or a person would have been written. */
const leaked = 3;

/** Maximum of different reasons for lost calls that are reported. */
const maxReasons = 10;

/** Records until the command has ended, or until this process is asked to end. The answer is the exit status. */
export async function record(words: readonly string[], options: RecordOptions): Promise<number> {
  const { to, port, rows, force = false } = options;
  if (to.protocol === "http:" && !isLoopback(to.hostname.replace(/^\[|\]$/g, ""))) {
    throw new EngineError(
      "--to begins with http:// and is on another machine, so everybody on the way could read passwords: use https://",
    );
  }
  const folder = resolve(options.cwd ?? ".", options.out);
  const paths = {
    seed: resolve(folder, options.seed),
    facts: resolve(folder, options.facts),
    profile: resolve(folder, options.profile),
  };
  if (new Set(Object.values(paths)).size < 3) {
    throw new EngineError("two of --seed, --facts and --profile name the same file");
  }
  for (const path of Object.values(paths)) {
    const reason = whyUnwritable(path, { makesFolders: true });
    if (reason !== undefined) throw new EngineError(`nothing is recorded: ${path} can't be written: ${reason}`);
  }
  if (!force) refuseExisting(Object.values(paths));
  const known = loadFacts();
  const watch = new HabitWatch(known);
  const recording = new Recording({
    base: to.pathname.replace(/\/+$/, ""),
    ...{ labels: options.private, rows, knownSteps: known.flatMap(({ steps }) => steps), observe: watch.take },
  });
  const proxy = await startProxy({ to, port, passed: recording.take, failed: teller() });
  let status = 0;
  try {
    if (words.length > 0) status = await runCommand(words, variablesOf(proxy.url, to));
    else {
      process.stdout.write(`${proxy.url}\n`);
      await waitForInterrupt();
    }
  } finally {
    await proxy.close();
  }
  return (await write(recording, profileSeen(watch, to), paths, force)) || status;
}

/** Variables by which a command reaches the recording in the place of the platform. */
function variablesOf(url: string, to: URL): Record<string, string> {
  const allowed = process.env["MICROAPPS_ALLOWED_ENDPOINTS"];
  const isAllowed = allowed?.split(",").some((entry) => URL.parse(entry.trim())?.origin === to.origin) ?? false;
  return {
    MICROAPPS_ENDPOINT: url,
    // A recording of an allowed platform is allowed as well.
    ...(isAllowed ? { MICROAPPS_ALLOWED_ENDPOINTS: `${allowed ?? ""},${new URL(url).origin}` } : {}),
  };
}

/** Reports each reason for lost calls once. */
function teller(): (error: Error) => void {
  const known = new Set<string>();
  return (error) => {
    const { code } = error as NodeJS.ErrnoException;
    const reason = printableLine(code ?? error.message);
    if (known.has(reason) || known.size >= maxReasons) return;
    known.add(reason);
    process.stderr.write(`warning: the platform can't be asked, and the caller's connection ends as well: ${reason}\n`);
  };
}

/** Paths of the files that a recording writes. */
type Paths = Readonly<Record<"seed" | "facts" | "profile", string>>;

/** The profile that `verify` would write of the same habits. */
const profileSeen = ({ results, wireNames }: HabitWatch, to: URL): Profile =>
  profileOf(results, { platform: to.origin, now: Date.now(), limits: {}, wireNames });

async function write(recording: Recording, profile: Profile, paths: Paths, force: boolean): Promise<number> {
  const made = recording.made(new Date().toISOString().slice(0, 10));
  const drafts = [
    { path: paths.seed, text: made.seed },
    { path: paths.facts, text: made.facts },
    { path: paths.profile, text: yamlOf(profile, "microapps record") },
  ];
  const leak = leakIn(drafts, made.finder);
  if (leak) {
    process.stderr.write(`error: nothing is written: ${kinds[leak.kind]} would have been in ${leak.path}\n`);
    return leaked;
  }
  await writeDrafts(drafts, force);
  process.stderr.write(`${printable(summaryOf(made, profile, paths), false)}\n`);
  return 0;
}

function summaryOf(
  { counts, omitted, administrator }: RecordingFiles,
  { habits }: Profile,
  { seed, facts, profile }: Paths,
): string {
  const names = Object.entries(habits).map(([name, value]) => `${name}: ${value}`);
  const content = [
    formatCount(counts.tables, "table"),
    formatCount(counts.rows, "row"),
    formatCount(counts.organizations, "organization"),
    formatCount(counts.people, "person"),
  ].join(", ");
  return [
    `Recorded ${formatCount(counts.calls, "call")}.`,
    `  ${seed}: ${content}${administrator === undefined ? "" : `; ${administrator} logs in with the password ${logsInWith.password}`}`,
    `  ${facts}: ${formatCount(counts.facts, "fact")}`,
    `  ${profile}: ${names.length === 0 ? "no habit but the usual was seen" : names.join(", ")}`,
    ...omitted.filter(([count]) => count > 0).map(([count, what]) => `  left out: ${counted(count, what)}`),
  ].join("\n");
}

/** A count with a noun that something follows: `2 rows beyond the bounds`. */
function counted(count: number, what: string): string {
  const [noun = "", ...rest] = what.split(" ");
  return [formatCount(count, noun), ...rest].join(" ");
}
