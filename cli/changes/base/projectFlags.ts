import { decidingKind, pipelineDecides } from "../../../machine/settings/deciding.ts";
import type { TreeEntry } from "../../../provider/files/git.ts";
import { secretText, type Note } from "../model/changeSet.ts";
import { stable } from "../model/values.ts";
import { listChangedKeys, layoutOnly, type Flagged, type BothTexts } from "./decidingFlags.ts";
import { projectContent, stackFileContent, type ProjectContent } from "./projectFiles.ts";

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
const dialects = ["profile", "wireNames"];
const credentials = ["email", "userID", "password", "token", "apiKey"];
const decisions: [settings: readonly string[], what: string][] = [
  [destinations, "where calls go"],
  [credentials, "as whom"],
  [dialects, "how calls are sent"],
];

/** Keys of a stack's file that decide what is configured and who can decrypt it. */
const stackKeys = ["environment", "secretsprovider", "encryptedkey"];

/** Flags for changes in Pulumi.yaml: it decides which code runs first. */
export function projectFlags({ file, before, after }: BothTexts): Flagged {
  const [was, is] = [projectContent(file, before), projectContent(file, after)];
  if ("why" in is) return unbelieved(file, is);
  if (before === after) return { flags: [], unexplained: [] };
  const rank = (key: string): number => (projectKeys.includes(key) ? 0 : 1);
  const keys = inOrder(listChangedKeys(contentOf(was), is.content), rank);
  const texts = keys.map((key) =>
    rank(key) === 0
      ? `${key} of ${file} changes, which decides what runs and where the state is`
      : `${key} of ${file} changes`,
  );
  return explained(file, texts);
}

const contentOf = (read: ProjectContent): Record<string, unknown> => ("content" in read ? read.content : {});

/** A file that readers may take differently: nobody could approve it. */
function unbelieved(file: string, { why }: { why: string }): Flagged {
  const note = { text: `${why}: readers of the file may differ in what it says`, place: file };
  return { flags: [note], unexplained: [note] };
}

/** Flags for a file that all readers take alike. Without a change of content the layout has changed. */
function explained(file: string, texts: readonly string[]): Flagged {
  const flags = (texts.length > 0 ? texts : [layoutOnly(file)]).map((text) => ({ text, place: file }));
  return { flags, unexplained: [] };
}

/**
 * Flags for changes of platform and account in Pulumi.<stack>.yaml; nothing encrypted is decrypted.
 * @param isElsewhere true when the endpoint changes in another file
 */
export function stackFlags({ file, before, after }: BothTexts, isElsewhere = false): Flagged {
  const read = stackFileContent(file, after);
  if ("why" in read) return unbelieved(file, read);
  if (before === after) return { flags: [], unexplained: [] };
  const [was, is] = [contentOf(stackFileContent(file, before)), read.content];
  const [old, now] = [settingsOf(was), settingsOf(is)];
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter(
    (key) => stable(old.get(key)) !== stable(now.get(key)),
  );
  const bare = (key: string): string => key.replace(/^microapps:(config:)?/, "");
  const has = (names: readonly string[]): boolean => changed.some((key) => names.includes(bare(key)));
  const rank = (key: string): number => decisions.findIndex(([settings]) => settings.includes(bare(key)));
  const flagOf = (key: string): string =>
    `${key} changes from ${describeSetting(old.get(key))} to ${describeSetting(now.get(key))}: it decides ${decisions[rank(key)]?.[1] ?? "how"}`;
  const movedTo = movedSecrets(old, now);
  const own = changed.filter((key) => key.startsWith("microapps:"));
  const [known, others] = [own.filter((key) => rank(key) >= 0), own.filter((key) => rank(key) < 0)];
  const flags = [
    ...((isElsewhere || has(["endpoint", "movedFrom"])) && has(credentials) ? [both] : []),
    ...inOrder(known, rank).map(flagOf),
    ...(was["encryptionsalt"] !== is["encryptionsalt"] && before !== undefined ? [salt] : []),
    ...movedTo.map(({ from, to }) => `the encrypted value of ${from} stands at ${to} now`),
    ...others.map(flagOf),
    ...inOrder(
      listChangedKeys(was, is).filter((key) => key !== "config" && key !== "encryptionsalt"),
      (key) => (stackKeys.includes(key) ? 0 : 1),
    ).map(
      (key) =>
        `${key} of ${file} changes${stackKeys.includes(key) ? ", which decides what is configured and who can decrypt it" : ""}`,
    ),
    ...changed
      .filter((key) => !key.startsWith("microapps:") && !movedTo.some((each) => each.to === key))
      .map((key) => `${key} in ${file} changes`),
  ];
  // A salt that the base did not have is explained by nothing else.
  const first = before === undefined && flags.length === 0 && is["encryptionsalt"] !== undefined;
  return explained(file, first ? [`${file} is new`] : flags);
}

/** Both at once send a credential to another machine. */
const both = "the endpoint and a credential change in one request: look where the credential goes";

const salt = "encryptionsalt changes: what is encrypted can't be compared, and another passphrase may open it";

/** A ciphertext under another key would be decrypted there. */
function movedSecrets(
  old: ReadonlyMap<string, unknown>,
  now: ReadonlyMap<string, unknown>,
): { from: string; to: string }[] {
  const places = new Map([...old].flatMap(([key, value]) => secretsIn(value).map((text) => [text, key] as const)));
  return [...now].flatMap(([key, value]) =>
    secretsIn(value).flatMap((text) => {
      const from = places.get(text);
      return from === undefined || from === key ? [] : [{ from, to: key }];
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
export function describeSetting(value: unknown): string {
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

const isPipeline = (path: string): boolean => decidingKind(path, "")?.decides === pipelineDecides;

/** A setting of this package in the text of a stack's file, as it stands there; undefined in one that is not believed. */
export function settingIn(text: string | undefined, key: string): unknown {
  const settings = settingsOf(contentOf(stackFileContent("", text)));
  return settings.get(`microapps:${key}`) ?? settings.get(`microapps:config:${key}`);
}

const settingsOf = ({ config }: Record<string, unknown>): Map<string, unknown> =>
  new Map(typeof config === "object" && config !== null ? Object.entries(config) : []);
