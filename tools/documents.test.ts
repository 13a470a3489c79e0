import { expect, test } from "@jest/globals";
import type { Command } from "commander";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { program } from "../cli/commands/program.ts";
import { statuses } from "../cli/commands/report/reporting.ts";
import { exitStatuses } from "../engine/errors.ts";
import { seed, settings } from "../platform/seed/schema.ts";
import { documents } from "./documents.ts";

const made = await documents();

test.each(Object.entries(made))("docs/%s is the one of the contract; make docs writes it anew", (name, text) => {
  expect(readFileSync(join(import.meta.dirname, "../../docs", name), "utf8")).toBe(text);
});

const repository = join(import.meta.dirname, "../..");
const read = (page: string): string => readFileSync(join(repository, page), "utf8");

test("docs/exit-statuses.md has a row for each status", () => {
  const rows = [...read("docs/exit-statuses.md").matchAll(/^\| (\d) +\|/gm)].map(([, status]) => Number(status));
  expect(rows).toEqual([...new Set([0, ...Object.values(exitStatuses), ...Object.values(statuses)])].sort());
});

test("the emulator's page has a right seed, with every setting", () => {
  const [, text = ""] = read("emulator/README.md").split("## Seed\n")[1]?.split("```yaml\n") ?? [];
  const example: unknown = parse(text.split("```")[0] ?? "");
  expect(seed.safeParse(example).error).toBeUndefined();
  expect(Object.keys((example as { settings: object }).settings).sort()).toEqual(Object.keys(settings.shape).sort());
});

/** Describes an unknown command or flag in a command line. */
function unknownIn(line: string): string[] {
  const [ours = ""] = line.split(/ -- /); // what follows is the command of somebody else
  const [, ...words] = ours.split(/\s+/).filter(Boolean);
  const commands: Command[] = [program];
  for (const word of words) {
    const [inner] = commands;
    const found = inner?.commands.find((each) => [each.name(), ...each.aliases()].includes(word));
    if (found) commands.unshift(found);
    else if (commands.length === 1 && !word.startsWith("-")) return [`${word} in ${line}`];
    else break;
  }
  const flags = commands.flatMap(({ options }) =>
    options.filter(({ hidden }) => !hidden).flatMap(({ short, long }) => [short, long]),
  );
  const used = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split("=")[0]);
  return used.filter((flag) => flag !== "--help" && !flags.includes(flag)).map((flag) => `${flag ?? ""} in ${line}`);
}

/** The command lines of a page, in blocks of a shell and among its words, without comments and what is piped on. */
const commandLines = (page: string): string[] => {
  const blocks = [...page.matchAll(/^```(?:sh)?\b[^\n]*\n(.*?)^```$/gms)].flatMap(([, text = ""]) => text.split("\n"));
  const inline = [...page.replaceAll(/^```.*?^```/gms, "").matchAll(/`([^`\n]+)`/g)].map(([, text = ""]) => text);
  return [...blocks, ...inline].flatMap((line) => {
    const [, words] = /(?:^|[|;&] )(?:npx )?(microapps [^|#;&]*)/.exec(line) ?? [];
    return words === undefined || /[<…]/.test(words.split(" ")[1] ?? "<") ? [] : [words];
  });
};

test("every command line of the documentation has commands and flags that there are", () => {
  const pages = ["*.md", "docs/*.md", "docs/guides/*.md", "examples/*/README.md", "emulator/README.md"]
    .flatMap((pattern) => globSync(pattern, { cwd: repository }))
    .filter((page) => page !== "CHANGELOG.md" && page !== "docs/commands.md");
  const lines = pages.flatMap((page) => commandLines(read(page)));
  expect(lines.length).toBeGreaterThan(60);
  expect(lines.flatMap(unknownIn)).toEqual([]);
  expect(unknownIn("microapps stack init dev --no-selct")).toEqual([
    "--no-selct in microapps stack init dev --no-selct",
  ]);
  expect(unknownIn("microapps prevew")).toEqual(["prevew in microapps prevew"]);
});

test("each promise has the suite that holds it, in testing/README.md", () => {
  const rows = [...read("testing/README.md").matchAll(/^\| (?!promise|-)(.*?) +\| (.*)\|$/gm)];
  const held = rows.map(([, promise = ""]) => promise);
  const pages = [read("docs/guides/reliance.md"), read("SECURITY.md").split("## What is not promised")[0] ?? ""];
  const promises = pages.flatMap((page) =>
    [...page.matchAll(/^(?:- )?\*\*([^*]+)\*\*/gm)].map(([, text = ""]) => text.replaceAll("\n", " ")),
  );
  // Those that SECURITY.md lists are whom it is about.
  const about = /^(The author|The platform|Another user|A web page|A reader|A mistake)/;
  expect(promises.filter((promise) => !about.test(promise) && !held.some((row) => promise.startsWith(row)))).toEqual(
    [],
  );
  const links = rows.flatMap(([, , suites = ""]) => [...suites.matchAll(/\]\((.*?)\)/g)].map(([, file = ""]) => file));
  expect(links.length).toBeGreaterThanOrEqual(rows.length);
  expect(links.filter((file) => !existsSync(join(repository, "testing", file)))).toEqual([]);
});
