import type { Fact } from "../../../provider/conformance/fact.ts";
import { switches as habits, type SwitchName as HabitName } from "../../../provider/habits/deviations.ts";
import type { Configuration } from "../../../provider/pulumi/configuration/configuration.ts";

/** Means by which this product works on a platform with an unusual habit. */
type Adaption =
  | { by: "client" }
  /** Nothing of this product has to do with it; programs of the client may. */
  | { by: "unused" }
  /** A key of the configuration, without `microapps:`. A profile sets the same in the emulator. */
  | { by: "setting"; setting: keyof Configuration; value: string }
  /** Other inputs of a resource, which names them before anything is sent. */
  | { by: "declaration"; text: string }
  /** The resource, function or command that ends with an error, or does without. */
  | { by: "nothing"; refuses: string };

/** A way in which a platform was seen to differ. */
export interface PlatformDifference {
  /** ID of the fact. */
  fact: string;
  rule: string;
  evidence: Fact["evidence"];
  expected: string;
  seen: string;
  /** The habit by which it is known, with the usual value and the one that was seen; null for one without a name. */
  habit: { name: HabitName; usual: string; value: string } | null;
  /** Parts of this product that it affects. */
  affects: string;
  adapts: { by: Adaption["by"]; text: string };
}

interface Meaning {
  /** Parts of this product that it affects. */
  affects: string;
  /** The usual adaption; `except` has others for some values. */
  adapts: Adaption;
  except?: Readonly<Record<string, Adaption>>;
}

const client: Adaption = { by: "client" };
const unused = (affects: string): Meaning => ({ affects, adapts: { by: "unused" } });
const nothing = (refuses: string): Adaption => ({ by: "nothing", refuses });
const setting = (name: keyof Configuration, value: string): Adaption => ({ by: "setting", setting: name, value });

const profile = setting("profile", "platform-profile.yaml");

const taken = (affects: string): Meaning => ({ affects, adapts: client });
const profiled = (affects: string): Meaning => ({ affects, adapts: profile });
const not = (affects: string, refuses: string): Meaning => ({ affects, adapts: nothing(refuses) });
const declared = (affects: string, text: string): Meaning => ({ affects, adapts: { by: "declaration", text } });

const everyRead = "Everything that is read: refresh, drift, dump and the functions";
const people = "TeamMember, TeamRoster and UserTeams";
const made = "Organization and Team";
const pages = "Reading a table: SeedRows, getRows, dump and drift";

/** Consequences of each habit for users of this product. */
export const meanings: Readonly<Record<HabitName, Meaning>> = {
  // Envelopes
  writeEnvelope: taken("SeedRows and RowFile: the ID of what they make"),
  readEnvelope: taken(everyRead),
  creationResult: taken(`${made}: the ID of what they make`),
  failureForm: taken("What is said of a call that the platform refuses"),
  failureStatus: taken("How a refusal is told from an answer"),
  idForm: taken("Everything that has an ID"),
  newIDName: taken("SeedRows and RowFile: the ID of what they make"),
  successWord: taken("How an answer is told from a refusal"),
  // Sessions
  loginEnvelope: taken("Every run that logs in"),
  logoutBy: taken("The end of each run: a session that is not ended expires by itself"),
  userLookupBy: {
    ...profiled(`${people} and getUserID: the ID of an address`),
    except: {
      query: client,
      none: { by: "declaration", text: "Declare userID in place of getUserID, which refuses without." },
    },
  },
  userLookupEnvelope: taken(`${people} and getUserID: the ID of an address`),
  notificationValues: taken("Notification"),
  keyAlone: taken("GeneratedApp, which sends key and token"),
  keyNeeded: profiled("GeneratedApp, which wants microapps:apiKey before it sends anything"),
  // Rows that are read
  rowsName: taken(pages),
  unknownTable: taken("SeedRows, where a table is not there: it is seen when the first row is written"),
  noMatch: taken(`${pages}, where a table is empty`),
  unknownRow: taken("getRow, RowFile and SeedRows, where a row is gone"),
  skip: taken(pages),
  skipForm: taken(pages),
  optLimit: taken(pages),
  order: unused("Sort fields in programs of the client and in microapps api"),
  rowOrder: taken(`${pages}, which sort what they read`),
  viewSort: taken(pages),
  searchFilters: unused("optSearchFilters in programs of the client and in microapps api"),
  viewFilters: { ...taken(pages), except: { refused: profile } },
  rangeFilters: { ...taken(pages), except: { refused: profile } },
  parentFilter: taken("SeedRows of a sub-table: the rows under one parent"),
  parentShown: taken("SeedRows of a sub-table: rows are read parent by parent, which is slower"),
  subRows: taken("SeedRows of a sub-table: rows are read parent by parent, which is slower"),
  rawRows: unused("Raw rows in microapps api and in programs of the client: microapps:wireNames names the parameter"),
  linkForm: taken("SeedRows with references"),
  numberForm: declared("SeedRows with numbers", "Declare types: {<label>: number} of SeedRows, which refuses without."),
  dateForm: declared("SeedRows with dates", "Declare types: {<label>: date} of SeedRows, which refuses without."),
  emptyViewers: taken("SeedRows with viewers"),
  submittedForm: taken("Reading rows"),
  // Rows that are written
  unknownLabels: taken("SeedRows with a label that is misspelled: it is seen when the rows are read back"),
  labelCase: taken("SeedRows with a label in another case: it is seen when the rows are read back"),
  wrongValues: taken("SeedRows with a value that does not fit: it is seen when the rows are read back"),
  linkNull: not("SeedRows that take a link away", "SeedRows"),
  emptyText: taken("SeedRows with empty texts"),
  batchInserts: taken("SeedRows: rows are inserted one by one, which is slower"),
  insertedCount: taken("SeedRows: how many rows of a batch arrived is seen when they are read back"),
  partialBatches: taken("SeedRows: what a refused batch left is seen when the rows are read back"),
  ownParents: profiled("SeedRows of a sub-table: rows of several parents in one batch"),
  updateUnknownRow: taken("SeedRows, where a row is gone: it is seen when the rows are read back"),
  removeUnknownRow: taken("SeedRows, where a row is gone already"),
  // Children and files
  childRead: unused("Programs of the client: RowFile reads the list"),
  childListBy: { ...taken("RowFile"), except: { query: profile } },
  storecopyPath: {
    ...taken("Programs of the client: no resource copies stored files"),
    except: { s3copy: setting("wireNames", '{"storecopy": "s3copy"}') },
  },
  uploadPath: {
    ...taken("RowFile, where the platform stores the file"),
    except: { uploadFileToS3: setting("wireNames", '{"uploadFileToStore": "uploadFileToS3"}') },
  },
  // Organizations, teams and members
  chosenIDs: profiled(`${made}: without an ID of their own a lost answer can't be asked for again`),
  organizationNames: taken("Organization: two of one name are not refused by the platform"),
  teamNames: taken("Team: a second one of a name is refused by the platform"),
  nullDescription: profiled(`${made} that take a description away`),
  unknownDelete: taken(`${made}, where they are gone already`),
  unknownThing: taken(`${made}, where they are gone`),
  createdAt: taken(`${made}: without it what an interrupted run made elsewhere is taken over by adopt alone`),
  cascade: not("Organization: a destroy would delete teams that nobody declares", "Organization"),
  allMembers: taken("dump, which leaves that team out"),
  memberForm: taken(people),
  memberPlace: taken(people),
  memberAddress: taken(`${people}: they ask for the ID of each address`),
  memberAgain: taken(people),
  creatorJoins: taken("TeamRoster with exclusive members"),
  memberID: { ...profiled(people), except: { userID: client } },
  teamParameter: { ...profiled(people), except: { teamIDs: client } },
  invitations: not(`${people} with an address that the platform does not know`, "TeamMember"),
  enforceBy: { ...profiled("UserTeams"), except: { email: client } },
  roleChange: not(`${people} with roles`, "TeamMember"),
  // Notifications and apps
  defaultChannel: declared(
    "Notification without a channel: it is delivered in the app alone",
    "Declare channel: inApp or push of Notification, which refuses without.",
  ),
  appLink: taken("GeneratedApp"),
  appStatus: taken("GeneratedApp that waits until the app is ready"),
  attachments: profiled("GeneratedApp without attachments"),
};

/** Consequences of a habit with this value. */
export function meaningOf(name: HabitName, value: string): { affects: string; adapts: Adaption } {
  const { affects, adapts, except = {} } = meanings[name];
  return { affects, adapts: value === habits[name].values[0] ? client : (except[value] ?? adapts) };
}

/** The fact that shows a word whose meaning nobody but the operator knows. */
export const wordsFact = "createappwithpromptStatus: known words";

/** Facts without a habit that something needs which no rehearsal tries, by ID: what it is for. */
const needed: Readonly<Record<string, string>> = {
  "insertorganization adminID": "Organization with adminID",
  "insertteam adminID": "Team with adminID",
  enforceteammembership: "UserTeams",
  "enforceteammembership organizationID": "UserTeams with organizationID",
  createappwithprompt: "GeneratedApp",
  createappwithpromptStatus: "AppReadiness and getAppStatus",
  sendnotification: "Notification",
  "sendnotification: push": "Notification",
  "sendnotification: inApp": "Notification",
  microappchildUploadFileToStore: "RowFile that stores its file",
  "microappchildUploadFileToStore: stored": "RowFile that stores its file",
};

/** Consequences of a difference that is not a habit. */
export function meaningOfFact(id: string): { affects: string; adapts: { by: Adaption["by"]; text: string } } {
  if (id === wordsFact) {
    const text =
      "Say what the word means (pending, ready or failed): as statusWords of the resource, or in platform-profile.yaml.";
    return {
      affects: "AppReadiness and getAppStatus, which take an unknown word for pending",
      adapts: { by: "setting", text },
    };
  }
  const affects = needed[id];
  if (affects !== undefined) return { affects, adapts: { by: "nothing", text: "Nothing is known to adapt." } };
  return {
    affects: `Programs of the client that call ${id.split(/[ :]/)[0] ?? ""}`,
    adapts: { by: "unused", text: "No resource needs it: those were tried with requests of their own." },
  };
}

/** Describes the adaption, as a sentence. */
export function adaptionText(adaption: Adaption, number: number): string {
  if (adaption.by === "client") return `The client takes ${number === 2 ? "both" : "all"} forms by itself.`;
  if (adaption.by === "unused") return "No resource and no function depends on it.";
  if (adaption.by === "declaration") return adaption.text;
  if (adaption.by === "setting") return `microapps config set microapps:${adaption.setting} '${adaption.value}'`;
  return `Nothing adapts: ${adaption.refuses} refuses by name.`;
}
