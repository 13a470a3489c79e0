import { describe, expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sampleOf, testInLong } from "../../../testing/harness/drawn.ts";
import type { Repository } from "../../report/testing/repository.ts";
import { promoteKilled } from "./testing/killedPromotion.ts";
import { countries, made, names, project, promoteIn } from "./testing/promotions.ts";

const own = (name: string, area: number): string =>
  `extends: base.yaml\norganizations: { acme: { description: "${area}" } }\nseeds: { countries: { source: ${name}/countries.csv } }\n`;
const start = {
  ...project,
  ...{ "staging.yaml": own("staging", 1), "prod.yaml": own("prod", 1) },
  ...{ "staging/countries.csv": countries, "prod/countries.csv": countries },
};
const changed = {
  "staging.yaml": own("staging", 2),
  "staging/countries.csv": "Code,Name,Area\nDE,Germany,358\nIT,Italy,301\n",
};

/** All files but those of Git, by name. */
function textsOf({ folder }: Repository): Record<string, string> {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = all.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    files
      .filter((file) => !file.startsWith(join(folder, ".git/")))
      .map((file) => [file.slice(folder.length + 1), readFileSync(file, "utf8")] as const),
  );
}

// Two files are opened, written and made safe, then renamed; promotions.yaml behind them.
const writes = [5, 8, 12, ...[1, 2, 3, 4, 6, 7, 9, 10, 11]];

describe("a promotion that is killed", () => {
  test.each(sampleOf(writes, 1))(
    "at write %i leaves each file whole, and the next one refuses, or finishes what is left",
    async (at) => {
      const whole = made(start);
      whole.commit(changed);
      await promoteIn(whole, ["staging", "prod"]);
      const after = textsOf(whole);
      // The commit is another one in each repository.
      const commit = whole.git("rev-parse", "HEAD").trim();
      const repository = made(start);
      repository.commit(changed);
      const before = textsOf(repository);
      expect(promoteKilled(repository.folder, at)).toBe(true);
      const left = textsOf(repository);
      const isThere = (file: string): boolean => left[file] !== undefined;
      const states = ["prod.yaml", "prod/countries.csv"].map((file) => {
        expect([before[file], after[file]]).toContain(left[file]);
        return left[file] === after[file];
      });
      // The entry is never ahead of the files.
      if (isThere("promotions.yaml")) expect(states).toEqual([true, true]);
      const again = promoteIn(repository, ["staging", "prod"]);
      if (states.includes(true)) await expect(again).rejects.toThrow(/(is|are) not committed: commit first, or go on/);
      else await again;
      await promoteIn(repository, ["staging", "prod"], { dirty: true });
      const own = repository.git("rev-parse", "HEAD").trim();
      const end = textsOf(repository);
      expect({ ...end, "promotions.yaml": end["promotions.yaml"]?.replace(own, commit) }).toEqual(after);
      repository.commit();
      expect(names(await promoteIn(repository, ["staging", "prod"]))).toEqual([]);
    },
  );

  testInLong("at the end of all its writes is none: the list above has each of them", () => {
    const repository = made(start);
    repository.commit(changed);
    expect(promoteKilled(repository.folder, Math.max(...writes) + 1)).toBe(false);
    return Promise.resolve();
  });
});
