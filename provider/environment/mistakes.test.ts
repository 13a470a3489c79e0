import { afterAll, describe, expect, test } from "@jest/globals";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { checkEnvironment } from "./checks.ts";
import { EnvironmentError } from "./problems.ts";

/**
 * The corpus of mistakes: `=== title`, files after `--- name`, and after `---` the messages about `prod.yaml`, line by
 * line (UPDATE_MISTAKES=1 in a test run rewrites the messages).
 */
const corpus = join(import.meta.dirname, "../../../provider/environment/testdata/corpus/mistakes.txt");

interface Case {
  title: string;
  files: [name: string, text: string][];
  expected: string;
}

function parsed(text: string): Case[] {
  return text
    .split(/^=== /m)
    .slice(1)
    .map((part) => {
      const [head = "", ...rest] = part.split(/^---/m);
      const files = rest.slice(0, -1).map((file): [string, string] => {
        const end = file.indexOf("\n");
        return [file.slice(0, end).trim(), file.slice(end + 1)];
      });
      return { title: head.trim(), files, expected: (rest.at(-1) ?? "").trim() };
    });
}

const cases = parsed(readFileSync(corpus, "utf8"));
const common = cases.find(({ title }) => title === "common")?.files ?? [];

const folder = temporaryFolder();
afterAll(() => {
  if (process.env["UPDATE_MISTAKES"]) {
    const text = cases.map(({ title, files, expected }) => {
      const parts = files.map(([name, text]) => `--- ${name}\n${text}`);
      return `=== ${title}\n${parts.join("")}---\n${expected}\n`;
    });
    writeFileSync(corpus, text.join("\n"));
  }
});

async function said({ files }: Case, at: string): Promise<string> {
  for (const [name, text] of [...common, ...files]) {
    mkdirSync(dirname(join(at, name)), { recursive: true });
    writeFileSync(join(at, name), text);
  }
  const { problems } = await checkEnvironment("prod.yaml", at);
  const lines = new EnvironmentError("prod.yaml", problems).message.split("\n").slice(1);
  return lines.map((line) => line.slice(2)).join("\n");
}

describe("a mistake in layers, rules or removals is named with its places", () => {
  test.each(cases.filter(({ title }) => title !== "common").map((one, index) => [one.title, index, one] as const))(
    "%s",
    async (_, index, one) => {
      const found = await said(one, join(folder, String(index)));
      if (process.env["UPDATE_MISTAKES"]) one.expected = found;
      expect(found).toBe(one.expected);
      expect(found).not.toBe("");
    },
  );
});
