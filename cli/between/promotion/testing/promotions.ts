import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEveryTest } from "../../../../testing/runner/endings.ts";
import { Repository } from "../../../report/testing/repository.ts";
import { promote, type Promoted, type PromotionRequest } from "../promote.ts";

const repositories: Repository[] = [];
afterEveryTest(() => repositories.splice(0).forEach((repository) => repository.remove()));

/** A repository that is removed after the test. */
export function made(files: Readonly<Record<string, string>>): Repository {
  const repository = new Repository(files);
  repositories.push(repository);
  return repository;
}

const base = `organizations:
  acme: { name: Acme, teams: { crew: { name: Crew, members: { ada@example.com: admin } } } }
seeds:
  countries: { table: countries, key: Code, source: countries.csv }
  cities: { table: cities, key: Name, source: cities.csv, references: { Country: { seed: countries } } }
`;
/** Rows that all environments share. */
export const countries = "Code,Name,Area\nDE,Germany,357\nFR,France,643\n";
/** Three environments over one file. */
export const project = {
  "environments.yaml": "dev: { file: dev.yaml }\nstaging: { file: staging.yaml }\nprod: { file: prod.yaml }\n",
  "base.yaml": base,
  "countries.csv": countries,
  "cities.csv": "Name,Country\nBerlin,DE\n",
  "dev.yaml": "extends: base.yaml\n",
  "staging.yaml": "# what staging has of its own\nextends: base.yaml\n",
  "prod.yaml": "extends: base.yaml\norganizations: { acme: { name: Acme Inc. } } # the name in contracts\n",
};

/** Promotes, and writes unless `more` has it otherwise. */
export const promoteIn = (
  repository: Repository,
  [from, to]: [string, string],
  more: Partial<PromotionRequest> = {},
): Promise<Promoted> =>
  promote({
    folder: repository.folder,
    from,
    to,
    only: [],
    ours: [],
    theirs: [],
    write: true,
    dirty: false,
    ...more,
  });

/** The text of a file. */
export const read = (repository: Repository, file: string): string =>
  readFileSync(join(repository.folder, file), "utf8");
/** The changes in short. */
export const names = ({ taken }: Promoted): string[] => taken.map(({ do: verb, name }) => `${verb} ${name}`);
/** Staging with changes of rows and people. */
export const staging = [
  "extends: base.yaml",
  "organizations: { acme: { teams: { crew: { members: { bob@example.com: member } } } } }",
  "seeds:",
  "  countries:",
  "    rows+:",
  "      - { Code: IT, Name: Italy, Area: '301' }",
  "    rows~:",
  "      - { Code: DE, Area: '358' }",
  "    rows-: [FR]",
  "",
].join("\n");
