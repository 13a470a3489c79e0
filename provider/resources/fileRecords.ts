import type { AnswerOf } from "../../platform/contract/endpoints.ts";
import { withoutUndefined } from "../../platform/contract/values.ts";
import { isOutcomeUnknown, isUndocumented, orUndefinedIfNotFound } from "../../platform/contract/wire.ts";
import type { Context } from "./model/resource.ts";

/** Declaration of a file. */
interface FileDeclaration {
  table: string;
  fieldID: string;
  url?: string | undefined;
  store: boolean;
  filename?: string | undefined;
  size?: number | undefined;
  type?: string | undefined;
}

/** A record as the platform has it. */
export type Child = AnswerOf<"microappchildList">["childItems"][number];
type Content = NonNullable<Child["content"]>;

/** An address without what signs it. */
export const address = (url: string | undefined): string | undefined => url?.split(/[?#]/)[0];

/** The name of a file; the last part of its address when it is not declared, which may be empty. */
export function fileName({ filename, url = "" }: Pick<FileDeclaration, "filename" | "url">): string {
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
export function toWantedContent(inputs: FileDeclaration): Partial<Content> {
  const { url, store, size, type } = inputs;
  return withoutUndefined({ filename: fileName(inputs), size, type, url: store ? undefined : url });
}

/** Names of what a record's content has otherwise. */
export const listDifferences = (content: Partial<Content>, child: Child): string[] =>
  Object.entries(content).flatMap(([name, value]) => (child.content?.[name] === value ? [] : [name]));

/** Differences between a record and the sent one; addresses are compared and shown without their signature. */
export const lacking = (content: Partial<Content>, child: Child): { name: string; sent: unknown; found: unknown }[] =>
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

/** Does what makes something again while its answer is lost, unless `found` sees that it was done. */
async function once<Made>(make: () => Promise<Made>, found: () => Promise<Made | undefined>): Promise<Made> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await make();
    } catch (error) {
      if (!isOutcomeUnknown(error) || isUndocumented(error) || attempt === 3) throw error;
      const there = await found().catch(() => {
        throw error; // as long as nobody can look, it stays unknown
      });
      if (there !== undefined) return there;
    }
  }
}

/** Has the platform keep a copy, where that is wanted. A copy whose address was lost belongs to nothing. */
export async function storeFile(
  context: Context,
  inputs: FileDeclaration,
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
export const makeRecord = (
  context: Context,
  { table, fieldID }: FileDeclaration,
  rowID: string,
  content: Content,
  known: ReadonlySet<string>,
): Promise<string> =>
  once(
    async () => {
      const request = { microAppResourceID: table, appID: rowID, fieldID, content };
      return (await context.client.microappchildCreate(request, context)).childID;
    },
    async () =>
      (await childrenOf(context, rowID, fieldID))?.find(
        (child) => !known.has(child._id) && listDifferences(content, child).length === 0,
      )?._id,
  );
