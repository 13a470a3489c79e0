import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { EndpointName } from "../../provider/contract/endpoints.ts";
import { isLong } from "../harness/drawn.ts";
import { allLives, LivingGround, type Variant } from "./living.ts";

// Platforms that differ in ways that no habit names. A life on each works as on any other, or is refused with a sentence
// about what to set; `make test-long` lives all lives on all of them.

/** The lives that are lived in `make test`, and the refusals of those that are not. */
interface Lived extends Variant {
  lives: readonly string[];
  refuses?: Readonly<Record<string, RegExp>>;
}

const late: { faults: NonNullable<Variant["faults"]>; settings: Variant["settings"] } = {
  faults: [{ kind: "late", milliseconds: 250 }],
  settings: { consistencySeconds: 1.5 },
};

/** The first answer of an endpoint is lost, after the call was carried out. */
const lost = (endpoint: EndpointName): NonNullable<Variant["faults"]> => [
  { kind: "reset", endpoint, commit: true, count: 1 },
];

const variants: Readonly<Record<string, Lived>> = {
  "new things are found late": { ...late, lives: ["Organization", "TeamRoster", "SeedRows"] },
  "new things are found late, and a batch does not tell how many rows it inserted": {
    ...late,
    habits: { insertedCount: "absent" },
    lives: ["SeedRows of texts"],
  },
  "new things are found late, and answers are lost": {
    ...late,
    faults: [
      ...late.faults,
      ...lost("insertmicroapprows"),
      ...lost("insertorganization"),
      ...lost("insertmicroapprow"),
    ],
    lives: ["SeedRows of texts", "Organization"],
  },
};

let ground: LivingGround;
beforeAll(async () => (ground = await LivingGround.open()));
afterAll(() => ground.close());

test.each(Object.entries(variants))("%s", async (_, { lives, refuses = {}, ...variant }) => {
  for (const type of isLong ? Object.keys(allLives) : new Set([...lives, ...Object.keys(refuses)])) {
    const living = ground.lives(type, variant);
    const refusal = refuses[type];
    if (refusal) await expect(living).rejects.toThrow(refusal);
    else await living;
  }
});
