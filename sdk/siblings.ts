import type * as pulumi from "@pulumi/pulumi";
import { typeThrough } from "../provider/pulumi/names.ts";
import {
  announcement,
  referrersAmong,
  siblingsAmong,
  type Announced,
  type LinkTargets,
  type Referrer,
  type Sibling,
} from "../provider/pulumi/otherSeeds.ts";
import { program, toPlainUrn, type PlainUrn } from "./program.ts";
import { programMarks } from "./secrecy.ts";

/** A seed's knowledge of other seeds of the program, for its provider; undefined when there is nothing. */
interface Others {
  siblings: Promise<Sibling[] | undefined>;
  referrers: Promise<Referrer[] | undefined>;
}

/**
 * The other seeds on the same table, and those that refer to its rows, once the program has constructed them.
 * @param references targets of this seed's links, as far as they are known
 */
export function othersOf(
  name: string,
  args: Readonly<Record<string, unknown>>,
  references: LinkTargets,
  { parent }: pulumi.CustomResourceOptions = {},
): Others {
  const urn = toPlainUrn(name, typeThrough(program().providerKind, "SeedRows"), parent);
  const own = announcement({ name, urn, references }, args, programMarks);
  const nothing = Promise.resolve(undefined);
  if (!own) return { siblings: nothing, referrers: nothing };
  const { seeds: announced } = program();
  announced.push(own);
  const all = new Promise<Announced<PlainUrn>[]>((resolve) => {
    setImmediate(() => resolve([...announced]));
  });
  return {
    siblings: all.then(async (seeds) => {
      const siblings = siblingsAmong(seeds, own)?.map(async (one) => ({ ...one, urn: await one.urn }));
      return siblings && Promise.all(siblings);
    }),
    referrers: all.then((seeds) => referrersAmong(seeds, own)),
  };
}
