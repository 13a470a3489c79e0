import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { casesIn } from "../../testing/harness/cases.ts";
import { runCommand } from "../../testing/harness/commands.ts";
import { environmentOf } from "../../testing/harness/project.ts";
import { Repository } from "../report/testing/repository.ts";

const listed = 'dev: { file: dev.yaml, endpoint: "https://platform.example.com" }\n';
const declared = "organizations: { acme: { name: Acme } }\n";
const resource = (platform: string): string =>
  JSON.stringify({
    version: 3,
    deployment: {
      resources: [
        {
          urn: "urn:pulumi:other::tests::microapps:index:Organization::acme",
          type: "microapps:index:Organization",
          id: "gone",
          inputs: { name: "Acme" },
          outputs: { name: "Acme", ...(platform === "" ? {} : { platform }) },
        },
      ],
    },
  });
const files = {
  "environments.yaml": listed,
  "dev.yaml": declared,
  "platform.yaml": "administrator: { email: admin@example.com, password: change-me-first }\n",
  "empty.json": JSON.stringify({ version: 3, deployment: { resources: [] } }),
  "gone.json": resource(""),
  "moved.json": resource("elsewhere"),
  "none.json": "{}\n",
};

let repository: Repository;
beforeAll(() => void (repository = new Repository(files)));
afterEach(() => {
  repository.git("checkout", "--quiet", "--", ".");
  repository.git("clean", "--quiet", "-d", "--force");
});
afterAll(() => repository.remove());

interface Situation {
  files?: Readonly<Record<string, string | null>>;
  variables?: Readonly<Record<string, string>>;
}
type Row = [command: string, situation: string, status: number, said: string, how?: Situation];

const run = (line: string, variables: Readonly<Record<string, string>> = {}) =>
  runCommand({
    words: line.split(" "),
    folder: repository.folder,
    environment: environmentOf({
      NO_COLOR: "1",
      PULUMI_HOME: join(repository.folder, ".git/home"),
      XDG_STATE_HOME: join(repository.folder, ".git/state"),
      ...variables,
    }),
  });

const today = new Date().toISOString().slice(0, 10);
const { rows } = casesIn("cli/commands/testdata/statuses.yaml") as { rows: Row[] };

describe("a command ends with the status that is documented", () => {
  test.each(rows)("%s: %s: %i", async (command, _, status, said, how = {}) => {
    for (const [file, text] of Object.entries(how.files ?? {})) {
      if (text === null) rmSync(join(repository.folder, file));
      else repository.write({ [file]: text.replace("<today>", today) });
    }
    const ended = await run(command, how.variables);
    expect(ended).toEqual({ status, output: expect.stringContaining(said) as unknown });
  });
});
