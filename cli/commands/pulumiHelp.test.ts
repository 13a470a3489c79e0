import { expect, test } from "@jest/globals";
import type { Command } from "commander";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { commandsOfPulumi, flagsOfPulumi } from "../../engine/cli/pulumi.ts";
import { program } from "./program.ts";

/** Names of commands by their group, and of flags by their command, as the help of the Pulumi CLI has them. */
const recorded = z
  .object({
    version: z.string(),
    commands: z.record(z.string(), z.array(z.string())),
    flags: z.record(z.string(), z.array(z.string())),
  })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, "../../../engine/testdata/pulumiHelp.json"), "utf8")));

const below = (command: Command, word: string): Command | undefined =>
  command.commands.find((each) => each.name() === word || each.aliases().includes(word));

const commandAt = (words: string): Command | undefined =>
  words
    .split(" ")
    .filter(Boolean)
    .reduce<Command | undefined>((command, word) => command && below(command, word), program);

const longs = (command: Command | null): string[] =>
  command === null ? [] : [...command.options.flatMap(({ long }) => long?.slice(2) ?? []), ...longs(command.parent)];

/** Words that the CLI has, and ours, but with another meaning or only to refuse them. */
const ownCommands = ["import"];

test("each command of the Pulumi CLI is one of ours, or refused by name", () => {
  const unknown = Object.entries(recorded.commands).flatMap(([group, names]) => {
    const command = commandAt(group);
    const known = (name: string): boolean =>
      (command !== undefined && below(command, name) !== undefined) ||
      commandsOfPulumi.includes(`${group} ${name}`.trim());
    return names.filter((name) => !known(name)).map((name) => `${group} ${name}`.trim());
  });
  expect(unknown).toEqual([]);
});

test("each flag of a command that both have is honoured, or refused by name", () => {
  const everywhere = recorded.flags[""] ?? [];
  const unknown = Object.entries(recorded.flags).flatMap(([words, flags]) => {
    if (words === "" || ownCommands.includes(words)) return [];
    const command = commandAt(words);
    if (!command) return [words];
    const known = new Set(longs(command));
    return [...flags, ...everywhere]
      .filter((flag) => !known.has(flag) && !flagsOfPulumi.has(`--${flag}`))
      .map((flag) => `${words} --${flag}`);
  });
  expect(unknown).toEqual([]);
});

test("nothing is refused that the Pulumi CLI does not have", () => {
  const theirs = new Set(Object.values(recorded.flags).flat());
  expect([...flagsOfPulumi].filter((flag) => flag.startsWith("--") && !theirs.has(flag.slice(2)))).toEqual([]);
});

test("the page on the Pulumi CLI names commands that there are", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/pulumi.md"), "utf8");
  const named = [...page.matchAll(/(?:^|`)(?:npx )?(pulumi|microapps) ([a-z]+)/gm)].map(([, tool, word]) => [
    tool,
    word,
  ]);
  expect(named.length).toBeGreaterThan(6);
  const missing = named.filter(([tool, word = ""]) =>
    tool === "pulumi" ? !recorded.commands[""]?.includes(word) : below(program, word) === undefined,
  );
  expect(missing).toEqual([]);
});
