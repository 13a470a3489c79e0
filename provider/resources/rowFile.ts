import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { messageOf } from "../../machine/failures.ts";
import type { AnswerOf } from "../../platform/contract/endpoints.ts";
import { id, withoutUndefined } from "../../platform/contract/values.ts";
import { ApiError, isOutcomeUnknown, isUndocumented, orUndefinedIfNotFound } from "../../platform/contract/wire.ts";
import { quote } from "../../platform/messages/text.ts";
import { describeNamed } from "../pulumi/names.ts";
import { rowByKey } from "../seedRows/links.ts";
import { readKey } from "../seedRows/observation.ts";
import { adopt, common, PartialFailure, ResourceError } from "./common.ts";
import { untilShown, verifyGone, resource } from "./lifecycle.ts";
import type { Context, State } from "./resource.ts";
import type { Replaced } from "./run.ts";

const fieldDescription =
  "Field that the file belongs to, by its ID, which is not its label. A seed of the emulator names it: Flag: {type: file, id: flag}.";
const inputs = z.object({
  ...common,
  table: id.meta({ description: "Data table ID (microAppID) of the row.", replaces: true }),
  row: z
    .record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .meta({
      description: "The row by its natural key: label → value. Either this or rowID.",
      replaces: true,
    }),
  rowID: id.optional().meta({ description: "The row by its ID. Either this or row.", replaces: true }),
  fieldID: id.meta({ description: fieldDescription, replaces: true }),
  url: z.string().min(1).optional().meta({
    description: "Where the file is: an address that the platform can read. Without it, the record is metadata alone.",
  }),
  store: z.boolean().default(true).meta({
    description: "True if the platform downloads the file and keeps a copy; else the record leads to url itself.",
  }),
  digest: z.string().optional().meta({
    description:
      "A digest of the file's content, of any kind: when it changes, the file is stored again from the same url.",
  }),
  filename: z.string().min(1).optional().meta({
    description: "Name of the file. If unset, the last part of url, and not changed afterwards.",
  }),
  size: z.int().min(0).optional().meta({ description: "Bytes. Not changed if unset." }),
  type: z.string().min(1).optional().meta({ description: "Media type. Not changed if unset." }),
  adopt,
});

const outputs = z.object({
  parentRowID: id.meta({ description: "ID of the row.", stable: true }),
  childID: id.meta({ description: "ID of the record.", stable: true }),
  storedAt: z.string().optional().meta({
    description: "Where the platform keeps its copy, without the signature that opens it.",
  }),
  fileKey: z.string().optional().meta({ description: "The platform's key of its copy." }),
});

type Inputs = z.output<typeof inputs>;
type Kept = State<typeof inputs, typeof outputs>;

/** A record in the journal that was about to be made on a row. */
const making = z.object({ rowID: z.string(), filename: z.string() });
const thing = "RowFile";

/**
 * A file or image record on a row's field. A record can't be made under an ID of ours, so the journal has a line before
 * it is made: of an interrupted run's record, and of no other, it is known by its name that it is ours.
 */
export const rowFile = resource({
  name: "RowFile",
  summary: "A file on a field of a row, stored by the platform or by its address or metadata alone.",
  example: {
    name: "flag",
    inputs: {
      table: "countries",
      row: { Code: "PT" },
      fieldID: "flag",
      url: "https://files.example.com/flags/pt.svg",
    },
  },
  importedBy: { id: "<table>/<rowID or Label=value>/<fieldID>/<childID>" },
  inputs,
  outputs,
  identity: {
    stays: (state, owner) =>
      `${quote(fileName(state))} stays on row ${state.parentRowID}: ${describeNamed(owner)} declares it`,
    letGo: ({ journal }, { resourceUrn }) => {
      journal.settle(resourceUrn, thing);
      return Promise.resolve();
    },
  },

  check: (_context, { inputs, unknown }) => {
    const { row, rowID, url, filename } = inputs;
    const problems = [];
    const named = [row, rowID].filter((value) => value !== undefined).length;
    if (!unknown.has("row") && !unknown.has("rowID") && named !== 1) {
      problems.push({
        property: "row",
        reason: named === 0 ? "set row or rowID" : "set either row or rowID, not both",
      });
    }
    if (row && Object.keys(row).length === 0) problems.push({ property: "row", reason: "name at least one label" });
    if (!unknown.has("url") && !unknown.has("filename") && fileName({ url, filename }) === "") {
      problems.push({ property: "filename", reason: "is required: no url tells it" });
    }
    return Promise.resolve({ inputs, problems });
  },

  create: async (context, inputs) => {
    const { table, fieldID, resourceUrn: urn } = inputs;
    const rowID = inputs.rowID ?? (await rowByKey(context, table, inputs.row ?? {}));
    if (rowID === undefined) {
      throw new ResourceError(
        `table ${table} has no row with ${keyText(inputs.row)}. Declare the RowFile after the rows: dependsOn its SeedRows.`,
      );
    }
    const filename = fileName(inputs);
    const children = (await childrenOf(context, rowID, fieldID)) ?? [];
    const namesakes = children.filter(({ content }) => content?.filename === filename);
    const begun = making.safeParse(context.journal.find(urn, thing)).data;
    const replaced = context.identities.replaced(urn);
    const ours =
      (begun?.rowID === rowID && begun.filename === filename) || (replaced && isSame(replaced, inputs, namesakes));
    const [there] = namesakes;
    if (there) {
      const same = !inputs.store && !differs(toWantedContent(inputs), there);
      if (namesakes.length > 1 || !(ours || same || inputs.adopt)) {
        const many = namesakes.length > 1 ? `${namesakes.length} files` : "a file";
        throw new ResourceError(
          `row ${rowID} has ${many} called ${quote(filename)} on field ${fieldID} already. ` +
            (namesakes.length > 1
              ? `Remove all but one, or choose another filename.`
              : `Set adopt: true to take it over. If the resource was renamed, declare its old name with aliases.`),
        );
      }
      context.report.info(`${quote(filename)} was already there: going on with it`);
      const id = idOf(context, { table, rowID, fieldID, childID: there._id });
      return { id, outputs: await write(context, id, inputs, rowID, there) };
    }
    const stored = await storeFile(context, inputs);
    const content = { ...toWantedContent(inputs), ...withoutUndefined({ url: stored?.url }) };
    const known = new Set(children.map(({ _id }) => _id));
    context.journal.begin(urn, thing, new Date(context.now()).toISOString(), { rowID, filename });
    const childID = await makeRecord(context, inputs, rowID, content, known);
    const id = idOf(context, { table, rowID, fieldID, childID });
    const outputs = kept(inputs, rowID, childID, stored);
    context.journal.answered(urn, thing);
    try {
      return { id, outputs: await readBack(context, id, content, outputs, known) };
    } catch (error) {
      if (error instanceof PartialFailure) throw error;
      throw new PartialFailure(messageOf(error), id, outputs);
    }
  },

  read: async (context, id, state) => {
    const { table, rowID, row, fieldID, childID } = await located(context, id);
    const child = (await childrenOf(context, rowID, fieldID))?.find(({ _id }) => _id === childID);
    if (!child) return undefined;
    const { url, filename, size, type } = child.content ?? {};
    const found = { id: idOf(context, { table, rowID, fieldID, childID }), place: { parentRowID: rowID, childID } };
    if (state.table === undefined) {
      const declared = withoutUndefined({ ...(row ? { row } : { rowID }), url, filename, size, type });
      return { id: found.id, outputs: { table, fieldID, store: false, ...declared, ...found.place } };
    }
    context.journal.settle(state.resourceUrn, thing);
    const { storedAt, ...rest } = state as Kept; // a state with a table is whole
    // A signature is another one each time.
    const moved = storedAt === undefined ? url !== state.url : address(url) !== storedAt;
    const now = {
      ...rest,
      ...(moved && state.url !== undefined ? { url: address(url) } : withoutUndefined({ storedAt })),
    };
    const managed = Object.entries({ filename, size, type }).filter(([name]) => name in state);
    return { id: found.id, outputs: { ...now, ...Object.fromEntries(managed), ...found.place } };
  },

  update: async (context, id, old, inputs) => {
    context.journal.settle(inputs.resourceUrn, thing);
    const { rowID, fieldID, childID } = await located(context, id);
    const child = (await childrenOf(context, rowID, fieldID))?.find(({ _id }) => _id === childID);
    if (!child)
      throw new ResourceError(
        `${quote(fileName(inputs))} is gone from row ${rowID}. Run refresh, then up makes it again.`,
      );
    return write(context, id, inputs, rowID, child, old);
  },

  delete: async (context, id, state) => {
    context.journal.settle(state.resourceUrn, thing);
    const { rowID, fieldID, childID } = await located(context, id);
    context.assertAlone();
    await orUndefinedIfNotFound(context.client.microappchildDelete({ childID }, context));
    const find = async (row: string) => (await childrenOf(context, row, fieldID))?.find(({ _id }) => _id === childID);
    await verifyGone(context, { what: `${quote(fileName(state))} of row ${rowID}`, id: rowID, find });
  },
});

/** True when the only file of that name is the one to replace. */
const isSame = ({ id, inputs: old }: Replaced, inputs: Inputs, namesakes: readonly Child[]): boolean =>
  id === undefined
    ? isDeepStrictEqual(placeOf(old), placeOf(inputs))
    : namesakes.some(({ _id }) => id.split("/").at(-1) === _id);

/** The declared place of a file. */
const placeOf = ({ table, row, rowID, fieldID, ...rest }: Readonly<Record<string, unknown>>): unknown => [
  ...[table, row, rowID, fieldID],
  fileName(rest),
];

const keyText = (row: Inputs["row"] = {}): string =>
  Object.entries(row)
    .map(([label, value]) => `${label} = ${JSON.stringify(value)}`)
    .join(", ");

/** Where a file is, by IDs. The table is of use to an import alone, and may be a secret. */
const idOf = (context: Context, at: { table: string; rowID: string; fieldID: string; childID: string }): string =>
  [context.publicID(at.table), at.rowID, at.fieldID, at.childID].join("/");

/** The parts of `<table>/<row ID, or Label=value&…>/<fieldID>/<childID>`. */
async function located(context: Context, id: string) {
  const [table, row, fieldID, childID, ...rest] = id.split("/");
  if (!table || !row || !fieldID || !childID || rest.length > 0) {
    throw new ResourceError(
      `${quote(id)} is not the ID of a row's file, which has the form <table>/<rowID or Label=value>/<fieldID>/<childID>`,
    );
  }
  const key = readKey(row);
  if (!key) return { table, rowID: row, fieldID, childID };
  const rowID = await rowByKey(context, table, key);
  if (rowID === undefined) throw new ResourceError(`table ${table} has no row with ${keyText(key)}`);
  return { table, row: key, rowID, fieldID, childID };
}

/**
 * Throws when the platform does not have what it answered that it wrote; the state gets what it has.
 * @param known records that a creation found there: another new one that is the same was made by a call delivered twice
 */
async function readBack(
  context: Context,
  id: string,
  content: Child["content"] & object,
  outputs: Kept,
  known?: ReadonlySet<string>,
): Promise<Kept> {
  const { parentRowID, fieldID, childID } = outputs;
  let children: Child[] = [];
  const child = await untilShown(
    context,
    async () => {
      children = (await childrenOf(context, parentRowID, fieldID)) ?? [];
      return children.find(({ _id }) => _id === childID);
    },
    (found) => found !== undefined && lacking(content, found).length === 0,
  );
  const isTwin = (one: Child): boolean => one._id !== childID && one.userID === child?.userID && !differs(content, one);
  for (const { _id } of known ? children.filter((one) => !known.has(one._id) && isTwin(one)) : []) {
    await orUndefinedIfNotFound(context.client.microappchildDelete({ childID: _id }, context));
    context.report.info(`${quote(fileName(outputs))} was made twice by one call: the second record is removed again`);
  }
  const name = `${quote(fileName(outputs))} of row ${parentRowID}`;
  if (!child) {
    throw new ResourceError(
      `${name}: the platform answered that it has the record (childID ${childID}), and its list does not. Run up again with --refresh: it makes the record if it is still missing`,
    );
  }
  const lost = lacking(content, child);
  if (lost.length === 0) return outputs;
  const keptAt = (property: string): string => (property === "url" && outputs.store ? "storedAt" : property);
  const found = { ...outputs, ...Object.fromEntries(lost.map((one) => [keptAt(one.name), one.found])) };
  const shown = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value));
  const parts = lost.map(({ name, sent, found }) => `${name} is ${shown(found)}, where ${shown(sent)} was sent`);
  throw new PartialFailure(
    `${name}: the platform kept another record than it was sent: ${parts.join("; ")}. Run up again to send it once more, or declare what it keeps`,
    id,
    withoutUndefined(found),
  );
}

/** Updates an existing record; stores the file again where its content or its kind has changed. */
async function write(
  context: Context,
  id: string,
  inputs: Inputs,
  rowID: string,
  child: Child,
  old?: Kept,
): Promise<Kept> {
  const { url, digest } = inputs;
  const there = old?.storedAt !== undefined && address(child.content?.url) === old.storedAt;
  const copied = there && old.url === url && old.digest === digest;
  const stored = copied && inputs.store ? undefined : await storeFile(context, inputs);
  const content = { ...toWantedContent(inputs), ...withoutUndefined({ url: stored?.url }) };
  const before = copied && inputs.store ? withoutUndefined({ url: old.storedAt, fileKey: old.fileKey }) : undefined;
  const outputs = kept(inputs, rowID, child._id, stored ?? before);
  if (!differs(content, child)) return outputs;
  await context.client.microappchildUpdate({ childID: child._id, content: { ...child.content, ...content } }, context);
  return readBack(context, id, content, outputs);
}

const kept = (
  inputs: Inputs,
  parentRowID: string,
  childID: string,
  stored: { url?: string | undefined; fileKey?: string | undefined } = {},
): Kept => ({
  ...inputs,
  parentRowID,
  childID,
  ...withoutUndefined({ storedAt: address(stored.url), fileKey: stored.fileKey }),
});

/** A record as the platform has it. */
type Child = AnswerOf<"microappchildList">["childItems"][number];
type Content = NonNullable<Child["content"]>;

/** An address without what signs it. */
const address = (url: string | undefined): string | undefined => url?.split(/[?#]/)[0];

/** The name of a file; the last part of its address when it is not declared, which may be empty. */
function fileName({ filename, url = "" }: Pick<Partial<Inputs>, "filename" | "url">): string {
  if (filename !== undefined) return filename;
  const path = URL.canParse(url) ? new URL(url).pathname : (address(url) ?? "");
  const last = path.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(last);
  } catch {
    return last; // not encoded
  }
}

/** The declared part of a record's content. The address of a copy is known once it is stored. */
function toWantedContent(inputs: Inputs): Partial<Content> {
  const { url, store, size, type } = inputs;
  return withoutUndefined({ filename: fileName(inputs), size, type, url: store ? undefined : url });
}

/** True for a record whose content is another one. */
const differs = (content: Partial<Content>, child: Child): boolean =>
  Object.entries(content).some(([name, value]) => child.content?.[name] !== value);

/** Differences between a record and the sent one; addresses are compared and shown without their signature. */
const lacking = (content: Partial<Content>, child: Child): { name: string; sent: unknown; found: unknown }[] =>
  Object.entries(content).flatMap(([name, value]) => {
    const form = (one: unknown) => (name === "url" && typeof one === "string" ? address(one) : one);
    const [sent, found] = [form(value), form(child.content?.[name])];
    return sent === found ? [] : [{ name, sent, found }];
  });

/** Files on a field of a row; undefined when there is no such row. */
export async function childrenOf(context: Context, rowID: string, fieldID: string): Promise<Child[] | undefined> {
  const listing = context.client.microappchildList({ appID: rowID, fieldID }, context);
  return (await orUndefinedIfNotFound(listing))?.childItems;
}

/**
 * Does what makes something again while its answer is lost, unless `found` sees that it was done, be it refused.
 * @param refused called once it is certain that nothing was made
 */
async function once<Made>(
  make: () => Promise<Made>,
  found: () => Promise<Made | undefined>,
  refused = (): void => undefined,
): Promise<Made> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await make();
    } catch (error) {
      if (!(error instanceof ApiError) || isUndocumented(error) || attempt === 3) throw error;
      const there = await found().catch(() => {
        throw error; // as long as nobody can look, it stays unknown
      });
      if (there !== undefined) return there;
      if (isOutcomeUnknown(error)) continue;
      refused();
      throw error;
    }
  }
}

/** Has the platform keep a copy, where that is wanted. A copy whose address was lost belongs to nothing. */
async function storeFile(
  context: Context,
  inputs: Inputs,
): Promise<AnswerOf<"microappchildUploadFileToStore"> | undefined> {
  const { table, fieldID, url, store } = inputs;
  if (url === undefined || !store) return undefined;
  context.report.status(`storing ${fileName(inputs)}`);
  const request = { resourceID: table, fieldID, url, filename: fileName(inputs) };
  return once(
    () => context.client.microappchildUploadFileToStore(request, context),
    () => Promise.resolve(undefined),
  );
}

/** Makes the record and answers its ID; where the answer was lost, the list shows whether it was made. */
const makeRecord = (
  context: Context,
  inputs: Inputs,
  rowID: string,
  content: Content,
  known: ReadonlySet<string>,
): Promise<string> =>
  once(
    async () => {
      const request = { microAppResourceID: inputs.table, appID: rowID, fieldID: inputs.fieldID, content };
      return (await context.client.microappchildCreate(request, context)).childID;
    },
    async () =>
      (await childrenOf(context, rowID, inputs.fieldID))?.find(
        (child) => !known.has(child._id) && !differs(content, child),
      )?._id,
    () => context.journal.settle(inputs.resourceUrn, thing),
  );
