import { z } from "zod";
import { digestOf } from "./canonical.ts";

const digest = z.string().regex(/^[0-9a-f]{64}$/);

/** Raised with each change of what a seal means. */
export const sealForm = 3;

/** Operations of an engine on a resource. */
const operation = z.enum(["create", "update", "replace", "delete", "same"]);
export type SealedOperation = z.output<typeof operation>;

const resource = z.strictObject({
  operations: z.array(operation).meta({ description: "What a run may do with it, one of these." }),
  id: z.string().optional().meta({ description: "Its ID, where the state has it." }),
  from: digest.optional().meta({ description: "What the state says of it; absent where that is not known." }),
  to: digest.optional().meta({ description: "What it is declared with; absent where it leaves." }),
  except: z
    .array(z.string())
    .optional()
    .meta({ description: "Inputs that no digest covers: secrets, and values of the stack's configuration." }),
  links: z
    .record(z.string(), z.array(z.strictObject({ of: z.string().optional(), id: z.string().optional() })))
    .optional()
    .meta({ description: "Inputs that are IDs: of another resource here, or as the file has them." }),
});
export type SealedResource = z.output<typeof resource>;

/**
 * The allowed operations of a run in one environment, by resource. It has no secret, and is the same for equal input.
 */
export const seal = z.strictObject({
  form: z.literal(sealForm).meta({ description: "Of this seal: another one is of another version." }),
  package: z.strictObject({ name: z.string(), version: z.string() }),
  environment: z.string(),
  stack: z.string(),
  commit: z.string().meta({ description: "Of the working tree, for people: files are compared, commits are not." }),
  endpoint: z
    .string()
    .nullable()
    .meta({ description: "Address of the platform; null where nothing in clear says it." }),
  account: z.string().nullable().meta({ description: "Who logs in; null where nothing in clear says it." }),
  declaration: digest.meta({ description: "Of the merged Environment file, values of the configuration as written." }),
  rules: digest.meta({ description: "Of the rules, removals and removed in it." }),
  files: z.record(z.string(), digest).meta({ description: "Files that count, but for those with secret rows." }),
  secretFiles: z.array(z.string()).meta({ description: "Files with secret rows, of which no digest is told." }),
  content: digest.meta({ description: "Of all files that count, those with secret rows too." }),
  code: digest.meta({ description: "Of all files of Git's that decide what runs, with their names." }),
  state: z
    .union([z.strictObject({ serial: z.string(), hash: digest }), z.literal("unknown")])
    .meta({ description: "Time of its last change, and digest of its resources without secrets." }),
  root: z.string().optional().meta({ description: "Name of the Environment, where the state has it." }),
  resources: z
    .record(z.string(), resource)
    .meta({ description: "By type and name below the Environment: Team acme/crew." }),
});
export type Seal = z.output<typeof seal>;

/** Why an environment has no seal. */
export const unsealed = z.strictObject({ why: z.string() });

/** A person's addition to a report. */
export const approval = z.strictObject({
  nonce: z.string().regex(/^[0-9a-f]{32}$/),
  expires: z.iso.datetime(),
  signature: digest.meta({ description: "HMAC-SHA-256 over the canonical JSON of all else." }),
});

/** True when a parsed text has a seal of another form, which must not be read as this one. */
export function hasOtherForm(raw: unknown): boolean {
  const found = z.looseObject({ environments: z.array(z.looseObject({ seal: z.looseObject({}).optional() })) });
  const { data } = found.safeParse(raw);
  return data?.environments.some(({ seal: one }) => one && !("why" in one) && one["form"] !== sealForm) === true;
}

/** Identifies an approval of an environment: its seal, whatever commit has the files. */
export const sealDigest = (one: Seal): string => digestOf({ ...one, commit: "" });

/** A report, as far as an approval is concerned. */
export const approvedReport = z.looseObject({
  version: z.literal(1),
  kind: z.literal("report"),
  environments: z.array(
    z.looseObject({ name: z.string(), stack: z.string().optional(), seal: z.union([seal, unsealed]).optional() }),
  ),
  approval: approval.optional(),
});
