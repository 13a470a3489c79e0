import { knownPathSpellings, endpoints } from "../../../../provider/contract/endpoints.ts";
import { ApiError } from "../../../../provider/contract/errors.ts";
import { maxRowsPerInsert } from "../../../../provider/contract/rows.ts";
import type { Check } from "../checks.ts";
import type { CheckContext } from "../context.ts";
import { noteFinding, well, wrong, type Finding } from "../findings.ts";
import { setting } from "../mending.ts";
import { callsOf, explainExpired, explainUnanswered } from "./account.ts";
import { addressOf } from "./connection.ts";

/** Calls without an account that the names of two paths take. */
export const callsForNames = 4;

/** True when the server knows the path and takes POST there: a GET carries nothing out. */
async function isThere(context: CheckContext, path: string): Promise<boolean> {
  const url = addressOf(context);
  callsOf(context).count();
  const asked = new URL(url.pathname.replace(/\/+$/, "") + path, url.origin);
  const reached = await context.network.request(asked, "GET", context.timeoutMs).catch(() => undefined);
  return reached !== undefined && reached.status !== 404;
}

const wireNames: Check = {
  id: "wireNames",
  title: "wire names",
  needs: ["login"],
  look: async (context) => {
    const { settings, place } = context.subject;
    const names = settings?.wireNames ?? {};
    const other: Record<string, string> = {};
    const unseen: string[] = [];
    for (const [name, path] of paths) {
      const spelled = (last: string): string => path.replace(/[^/]+$/, last);
      const used = names[name] ?? name;
      if (await isThere(context, spelled(used))) continue;
      const alternative = used === name ? knownPathSpellings[name] : name;
      if (await isThere(context, spelled(alternative))) other[name] = alternative;
      else unseen.push(name);
    }
    const found = Object.keys(other);
    if (found.length > 0) {
      const value = JSON.stringify({ ...names, ...other });
      return wrong(
        `The platform calls ${found.join(" and ")} otherwise: ${Object.values(other).join(" and ")}.`,
        "Without its names files can't be copied or uploaded.",
        [setting(place, "wireNames", value)],
      );
    }
    if (context.learned.raw?.isKnown === false) {
      return noteFinding(
        "The platform does not take the parameter platformFormat by this name.",
        "Reads of raw rows need it, which runs never do. The operator knows its name.",
        [setting(place, "wireNames", JSON.stringify({ ...names, platformFormat: "<name>" }))],
      );
    }
    if (unseen.length > 0)
      return noteFinding(
        `Whether it knows ${unseen.join(" and ")} can't be seen without a call that changes something.`,
        "Only programs that copy or upload files need them.",
      );
    return well("The platform knows the names that are configured.");
  },
};

const paths = [
  ["storecopy", endpoints.microappchildStorecopy.path],
  ["uploadFileToStore", endpoints.microappchildUploadFileToStore.path],
] as const;

const sizes: Check = {
  id: "pages",
  title: "page size",
  needs: ["login"],
  look: async (context) => {
    const tables = [...context.learned.tables].filter(([, { rows }]) => rows > 0);
    const batches = `Batches have up to ${maxRowsPerInsert.toLocaleString("en")} rows, as documented; that was not tried.`;
    const [largest] = tables.toSorted(([, a], [, b]) => b.rows - a.rows);
    if (!largest) return noteFinding(`No table with rows was read, which would show it. ${batches}`);
    const [table, { pages, rows, isAll }] = largest;
    const [first = 0] = pages;
    const isShort = pages.length > 1 && first < maxRowsPerInsert;
    const page = isShort
      ? `A page has ${first.toLocaleString("en")} rows at most.`
      : `A page of ${Math.min(rows, maxRowsPerInsert).toLocaleString("en")} rows comes whole.`;
    const limited = await defaultLimit(context, table, isAll ? rows : undefined);
    if (typeof limited === "object") return limited;
    const seen = `${page} ${limited}${batches}`;
    return isShort && first < small
      ? noteFinding(seen, "Reading a table takes many calls: the operator can allow more rows.")
      : well(seen);
  },
};

/** Rows of a page below which reading is slow. */
const small = 500;

/** Describes the default limit of a read, as a sentence; or why it is unknown. */
async function defaultLimit(context: CheckContext, table: string, rows: number | undefined): Promise<string | Finding> {
  try {
    const { microAppRows } = await callsOf(context).call("microappdata", { microAppID: table }, context.signal);
    const { length } = microAppRows;
    if (rows !== undefined && length >= rows) return "";
    return `A read without a limit brings ${length.toLocaleString("en")}, on which nothing here relies. `;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.code === "unauthorized"
      ? explainExpired(context, error)
      : explainUnanswered(context, "microappdata", error);
  }
}

export const habitChecks: readonly Check[] = [wireNames, sizes];
