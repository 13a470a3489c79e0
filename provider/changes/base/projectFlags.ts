import { parseDocument } from "yaml";
import { secretText, type Note } from "../model/changeSet.ts";
import { stable } from "../model/values.ts";
import type { TreeEntry } from "./commits.ts";

/** Texts of one file on both sides; undefined where there is none. */
export interface BothTexts {
  file: string;
  before: string | undefined;
  after: string | undefined;
}

/** Keys of Pulumi.yaml that decide which code runs, where the state is and what the stacks are called. */
const projectKeys = [
  "name",
  "runtime",
  "main",
  "plugins",
  "packages",
  "backend",
  "stackConfigDir",
  "config",
  "environment",
];

/** Settings of a stack that decide where calls go, how they are sent, and as whom. */
const destinations = ["endpoint", "movedFrom", "insecure", "appServer", "organizationID", "readOnly"];
const manners = ["profile", "wireNames"];
const credentials = ["email", "userID", "password", "token", "apiKey"];
const decisions: [settings: readonly string[], what: string][] = [
  [destinations, "where calls go"],
  [credentials, "as whom"],
  [manners, "how calls are sent"],
];

/** What changes in Pulumi.yaml of what decides which code runs. */
export function projectFlags({ file, before, after }: BothTexts): Note[] {
  if (before === after) return [];
  const [was, is] = [contentOf(before), contentOf(after)];
  return projectKeys.flatMap((key) =>
    stable(was[key]) === stable(is[key])
      ? []
      : [{ text: `${key} of ${file} changes, which decides what runs and where the state is`, place: file }],
  );
}

/**
 * What changes in Pulumi.<stack>.yaml of the platform and the account; nothing encrypted is decrypted.
 * @param isElsewhere whether the endpoint changes in another file
 */
export function stackFlags({ file, before, after }: BothTexts, isElsewhere = false): Note[] {
  if (before === after) return [];
  const [was, is] = [contentOf(before), contentOf(after)];
  const [old, now] = [settingsOf(was), settingsOf(is)];
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter(
    (key) => stable(old.get(key)) !== stable(now.get(key)),
  );
  const bare = (key: string): string => key.replace(/^microapps:(config:)?/, "");
  const has = (names: readonly string[]): boolean => changed.some((key) => names.includes(bare(key)));
  const rank = (key: string): number => decisions.findIndex(([settings]) => settings.includes(bare(key)));
  const flagOf = (key: string): string =>
    `${key} changes from ${shown(old.get(key))} to ${shown(now.get(key))}: it decides ${decisions[rank(key)]?.[1] ?? "how"}`;
  const own = changed.filter((key) => key.startsWith("microapps:"));
  const [known, others] = [own.filter((key) => rank(key) >= 0), own.filter((key) => rank(key) < 0)];
  const flags = [
    ...((isElsewhere || has(["endpoint", "movedFrom"])) && has(credentials) ? [both] : []),
    ...inOrder(known, rank).map(flagOf),
    ...(was["encryptionsalt"] !== is["encryptionsalt"] && before !== undefined ? [salt] : []),
    ...movedSecrets(old, now),
    ...others.map(flagOf),
  ];
  return flags.map((text) => ({ text, place: file }));
}

/** Both at once send a credential to another machine. */
const both = "the endpoint and a credential change in one request: look where the credential goes";

const salt = "encryptionsalt changes: what is encrypted can't be compared, and another passphrase may open it";

/** A ciphertext under another key would be decrypted there. */
function movedSecrets(old: ReadonlyMap<string, unknown>, now: ReadonlyMap<string, unknown>): string[] {
  const places = new Map([...old].flatMap(([key, value]) => secretsIn(value).map((text) => [text, key] as const)));
  return [...now].flatMap(([key, value]) =>
    secretsIn(value).flatMap((text) => {
      const from = places.get(text);
      return from === undefined || from === key ? [] : [`the encrypted value of ${from} stands at ${key} now`];
    }),
  );
}

function secretsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    key === "secure" && typeof inner === "string" ? [inner] : secretsIn(inner),
  );
}

/** A setting as a report shows it: of an address its origin alone, since the rest may be a credential. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (secretsIn(value).length > 0) return secretText;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text).origin : text;
}

/** Files of a commit that run somewhere or lead elsewhere. */
export function treeFlags(base: ReadonlyMap<string, TreeEntry>, head: ReadonlyMap<string, TreeEntry>): Note[] {
  const flags: Note[] = [];
  for (const [path, entry] of head) {
    const before = base.get(path);
    if (before?.id === entry.id && before.kind === entry.kind) continue;
    if (entry.kind === "link") flags.push({ text: `${path} becomes a symbolic link`, place: path });
    else if (entry.kind === "submodule") flags.push({ text: `${path} becomes, or moves, a submodule`, place: path });
    else if (path.split("/").includes(".microapps"))
      flags.push({ text: `${path} is tracked: nothing there is believed`, place: path });
    else if (isPipeline(path)) flags.push({ text: `${path} is a pipeline, and it changes`, place: path });
  }
  const removed = [...base.keys()].filter((path) => isPipeline(path) && !head.has(path));
  const all = [...flags, ...removed.map((path) => ({ text: `${path} is a pipeline, and it goes`, place: path }))];
  return inOrder(all, ({ place = "" }) => (isPipeline(place) ? 0 : 1));
}

/** By rank, since a comment shows the first of many: what a branch may have any number of hides nothing. */
const inOrder = <Item>(items: readonly Item[], rankOf: (item: Item) => number): Item[] =>
  items.toSorted((a, b) => rankOf(a) - rankOf(b));

const isPipeline = (path: string): boolean =>
  /^(\.github\/(workflows|actions)\/|\.gitlab-ci\.ya?ml$|\.gitlab\/ci\/|azure-pipelines|\.circleci\/|Jenkinsfile|bitbucket-pipelines)/.test(
    path,
  );

/** Content of a YAML file as a map; of one that can't be read, only the text is known. */
export function contentOf(text: string | undefined): Record<string, unknown> {
  try {
    const content: unknown = parseDocument(text ?? "", { prettyErrors: false, uniqueKeys: false }).toJS();
    return typeof content === "object" && content !== null ? (content as Record<string, unknown>) : {};
  } catch {
    return Object.fromEntries(["name", "runtime", "config"].map((key) => [key, { "microapps:endpoint": text }]));
  }
}

/** A setting of this package in the text of a stack's file, as it stands there. */
export function settingIn(text: string | undefined, key: string): unknown {
  const settings = settingsOf(contentOf(text));
  return settings.get(`microapps:${key}`) ?? settings.get(`microapps:config:${key}`);
}

const settingsOf = ({ config }: Record<string, unknown>): Map<string, unknown> =>
  new Map(typeof config === "object" && config !== null ? Object.entries(config) : []);
