// What version 0.1.0 had and this one lacks. Each name is answered by one sentence that says what to do instead; the table
// goes with the next version.

type Sentences = Readonly<Record<string, string>>;

const noApproval =
  "a plan has a digest in place of a signature: `report` and `preview` print it, a protected environment of the pipeline asks who may " +
  "say yes, and `up --plan sha256:…` refuses another plan (with the Pulumi CLI: `report --expect-plan sha256:…` before `pulumi up`)";

const removalsInstead =
  "removals and removed are gone: maxRemovals, minAdmins and keepSelf hold what one run may remove, and a report lists it first";

const adoptInstead =
  "is gone: whoever is declared is owned, and leaves the team with the declaration. To give somebody up without that, set retainOnDelete (retain: true in a file)";

const recreateInstead =
  "recreate is gone: rows keep their IDs. Put viewers under the label of their field to change them in rows that are there, or set newRows";
const expectInstead = "write what the rows have to be like in expect, and the types of a CSV in types";
const wholeTables =
  "dump whole tables, name fewer of them by --table, and delete rows of the files that you don't need";

const kindInstead =
  "set `microapps config set microapps:providerKind plugin` (or dynamic) and run up once; the aliases of the classes keep every resource";

/** What is said of each name: that it is gone, and what to do instead. */
const gone = (table: Sentences, shown: (name: string) => string): Sentences =>
  Object.fromEntries(Object.entries(table).map(([name, instead]) => [name, `${shown(name)} is gone: ${instead}`]));

/** Commands of `microapps`, with those above them: `state provider-kind`. */
const commands = gone(
  {
    "state provider-kind": kindInstead,
    "state door": kindInstead,
    "merge-driver":
      "Git merges files of rows by lines. Take its lines out of .gitattributes and run `git config --remove-section merge.microapps`; `microapps environment check` names conflicts that were left",
    changes:
      "`microapps report --from dev --to prod` compares the files of two environments, `report --base <commit>` those of a commit, and `drift` says what is live",
    approve: noApproval,
    trust: "a run believes its own journal alone, in the state folder of the user; delete .microapps/intents",
    record: "write the platform seed by hand, or with `microapps dump`; `microapps verify` says how a platform behaves",
  },
  (name) => `microapps ${name}`,
);

const formerVerifyFlags =
  "in new table test-bed bed print-bed address apps app file rows timeout facts profile write-profile force clean".split(
    " ",
  );
const verifyInstead =
  "name what is for tests by --sandbox (organization=new, countries=<table ID>, invitee=<address>, app=<ID>, file=<address>), allow an " +
  "app and notifications by --generate and --notify, and write a profile by hand (docs/verify.md)";

const flagOf = (name: string): string => name.slice(name.indexOf(" --") + 1);

/** Flags, behind their command: `up --approved`. */
const flags: Sentences = {
  "drift --accept": "--accept is called --tolerate now",
  ...gone(
    {
      "dump --rows": wholeTables,
      "dump --where": wholeTables,
      "table schema --parent": "a table is read as a whole",
      "promote --fold":
        "move what all environments have alike into the file that they share by hand, and look at it with microapps report",
      "promote --conflicts": "changes of other cells of one row merge, and the diff shows them",
      "up --approved": noApproval,
      "ci --approve": noApproval,
      "report --events": "`microapps preview` shows what a program that declares its own resources will do",
      ...Object.fromEntries(formerVerifyFlags.map((flag) => [`verify --${flag}`, verifyInstead])),
      "emulator --wire-name": "write wireNames into a profile, and name it by --profile",
      "emulator --strict": "values are checked unless the seed says settings: { strict: false }",
      "emulator --loose": "write settings: { strict: false } into the seed",
      "emulator --tenant":
        "start an emulator for each platform, or make instances (`POST /_emulator/instances`, `emulator.instance()`)",
    },
    flagOf,
  ),
};

/** Keys of a stack's configuration, without the namespace, and variables of the environment. */
const settings: Sentences = {
  door: "is gone: set microapps:providerKind in its place",
  MICROAPPS_DOOR: "MICROAPPS_DOOR is gone, and nothing was sent: set MICROAPPS_PROVIDER_KIND in its place",
  MICROAPPS_APPROVED: `MICROAPPS_APPROVED is gone, and nothing was sent: ${noApproval}`,
  MICROAPPS_APPROVAL_KEY: `MICROAPPS_APPROVAL_KEY is gone, and nothing was sent: ${noApproval}`,
};

const againInstead = "is gone: remove it. --replace is enough, and a run that can't know stops and says what to do";

/** Inputs of resources, behind the resource: `SeedRows.schema`. Resources that are gone stand alone. */
const inputs: Sentences = {
  "SeedRows.onViewersChange: recreate": recreateInstead,
  "TeamMember.adopt": adoptInstead,
  "TeamRoster.adopt": adoptInstead,
  "Environment.declaration":
    "declaration of an Environment is gone: write it to a file and name that, or declare single resources, which take outputs",
  "getRow.parentTable": "is gone: leave it out, since a table is read as a whole",
  "getRows.parentTable": "is gone: leave it out, since a table is read as a whole; parentRowID names one parent row",
  "SeedRows.schema": `is gone: ${expectInstead}`,
  "GeneratedApp.again": againInstead,
  "Notification.again": againInstead,
  UserTeams:
    "UserTeams is gone: declare the members of each team in a TeamRoster. Without the declaration, up forgets it and " +
    "leaves the person's teams alone.",
};

/** Keys of an Environment file or a masks file, behind the part of it where they stood: `seeds.schema`. */
const environmentKeys: Sentences = {
  "seeds.onViewersChange: recreate": `onViewersChange: ${recreateInstead}`,
  "seeds.schema": `schema is gone: ${expectInstead}`,
  "apps.again": `again ${againInstead}`,
  "masks.kinds": "kinds is gone: write a rule for each label; a dump that stops prints those that have none",
  "masks.others": "others is gone: write a rule or keep for each label; a dump that stops prints those that have none",
  "masks.keep": "mayHold is gone: write keep; what is kept is not searched for masked values any more",
  "organizations.adopt": `adopt of people ${adoptInstead}`,
  removals: removalsInstead,
  removed: removalsInstead,
};

/** Habits of a platform profile that neither the specification nor client code names: they go in one way. */
const formerHabits = (
  "readEnvelope failureStatus idForm newIDName successWord userLookupEnvelope keyAlone keyNeeded rowsName unknownTable noMatch unknownRow " +
  "skip optLimit order rowOrder viewSort searchFilters viewFilters rangeFilters parentFilter parentShown subRows rawRows " +
  "linkForm numberForm dateForm emptyViewers submittedForm unknownLabels labelCase wrongValues linkNull emptyText batchInserts insertedCount " +
  "partialBatches ownParents updateUnknownRow removeUnknownRow childRead storecopyPath uploadPath chosenIDs organizationNames teamNames nullDescription unknownDelete " +
  "unknownThing createdAt allMembers memberAddress memberAgain creatorJoins invitations roleChange defaultChannel appStatus attachments"
).split(" ");

const habitInstead =
  "take its line out. What the platform does there is understood without a setting, or refused by name";
const wireName = (name: string): string => `take its line out, and set wireNames: {${name}: <its name>} in the profile`;

/** Habits of a platform profile. */
const habits = gone(
  {
    ...Object.fromEntries(formerHabits.map((name) => [name, habitInstead])),
    storecopyPath: wireName("storecopy"),
    uploadPath: wireName("uploadFileToStore"),
    rawRows: wireName("platformFormat"),
  },
  (name) => `habit ${name}`,
);

/** Files and folders that earlier versions wrote or read. */
const files: Sentences = {
  "snapshot.json": "a snapshot of the emulator is an SQLite file now: save the state anew with a name such as state.db",
};

const removed = { commands, flags, settings, inputs, environmentKeys, habits, files };

/** The sentence that answers a removed name, undefined for a name that never was. */
export function answerRemoved(kind: keyof typeof removed, name: string): string | undefined {
  const table = removed[kind];
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Removed flags with their sentences, for the command of this name: `report` or `state provider-kind`. */
export const removedFlagsOf = (command: string): [flag: string, sentence: string][] =>
  Object.entries(flags).flatMap(([name, sentence]): [string, string][] =>
    name === `${command} ${flagOf(name)}` ? [[flagOf(name), sentence]] : [],
  );
