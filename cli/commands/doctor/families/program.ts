import { formatCount } from "../../../../provider/messages/text.ts";
import type { Check } from "../checks.ts";
import { noteFinding, well, wrong } from "../findings.ts";
import { sentence } from "../subject.ts";
import { maxTables } from "./tables.ts";

export const configurationCheck: Check = {
  id: "configuration",
  title: "configuration",
  needs: [],
  look: ({ subject }) => subject.finding,
};

/** Looks for resources of the program in its files. */
export const programCheck: Check = {
  id: "program",
  title: "program",
  needs: ["configuration"],
  look: ({ subject: { declared, place } }) => {
    const { files, problem, tables } = declared;
    if (problem) {
      const { file, text } = problem;
      return wrong(sentence(`Environment file ${file} has a problem: ${text}`), undefined, [
        `microapps environment check ${file}`,
      ]);
    }
    const from = [...files, ...(place.stack === undefined ? [] : ["the state"])];
    if (from.length === 0) return well("Without a stack there is none to look at.");
    const count = formatCount(tables.length, "table");
    const seen = `Known from ${from.join(" and ")}: ${count}.`;
    return tables.length > maxTables ? noteFinding(seen, `The first ${maxTables} are looked at.`) : well(seen);
  },
};
