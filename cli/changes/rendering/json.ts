import { z } from "zod";
import { changeSet, type ChangeSet } from "../model/changeSet.ts";
import { toVisible } from "./text.ts";

/** The report as JSON; what a terminal would obey is escaped, which means the same. */
export const json = (set: ChangeSet): string =>
  `${JSON.stringify(changeSet.parse(set), null, 2).replace(/[^\n\x20-\x7e]/gu, (char) => {
    if (toVisible(char) === char) return char;
    return [...Array(char.length).keys()].map((i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");
  })}\n`;

/** JSON Schema of a report. */
export const reportSchema = (): object => ({
  title: "Report of pulumi-microapps",
  ...z.toJSONSchema(changeSet, { io: "output" }),
});
