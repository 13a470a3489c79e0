import { z } from "zod";
import { factsOf } from "../resources/model/resource.ts";
import type { Resource } from "../resources/resource.ts";
import type { Properties } from "./properties.ts";

/** The input by which a state of a dynamic resource remembers which of its inputs are secrets. */
const secretsInput = "__options";

/**
 * The input that carries what no host of dynamic resources gets from its engine. It is one, because each property of a
 * resource is dear to make; a check takes it apart, and no state has it.
 */
export const programInput = "__program";

const kept = z.object({ secrets: z.array(z.string()).default([]) });

const fromProgram = z.object({
  resourceUrn: z.string().optional(),
  isPreview: z.boolean().optional(),
  secrets: z.array(z.string()).optional(),
});

/** Content of {@link programInput}. */
export interface FromProgram {
  resourceUrn: string | Promise<string>;
  /** True when the program runs for a preview. */
  isPreview: boolean;
  /** Names of the inputs that hold a secret: a host gets all in clear. */
  secrets?: Promise<string[] | undefined>;
}

/** Takes what is not the resource's own out of a dynamic resource's inputs. */
export function fromDynamic({ [secretsInput]: last, [programInput]: program, ...own }: Properties): {
  inputs: Properties;
  secrets: readonly string[];
  isPreview: boolean | undefined;
} {
  if (program === undefined) {
    return { inputs: own, secrets: last === undefined ? [] : kept.parse(last).secrets, isPreview: undefined };
  }
  const { resourceUrn, isPreview, secrets = [] } = fromProgram.parse(program);
  return { inputs: resourceUrn === undefined ? own : { ...own, resourceUrn }, secrets, isPreview };
}

/** The properties with the names of those that are secrets: a refresh and a destroy have nothing else. */
export const remembering = (properties: Properties, secrets: readonly string[]): Properties =>
  secrets.length === 0 ? properties : { ...properties, [secretsInput]: { secrets } };

/** The part of a resource that decides which options it takes. */
export type Definition = Pick<Resource, "name" | "inputs">;

/** Why `ignoreChanges` can't be honoured, in one sentence: engines apply it before a resource has seen its inputs. */
export function explainRefusedIgnores(
  { name, inputs: { shape } }: Definition,
  paths: readonly string[] = [],
  inputs: Properties,
): string | undefined {
  const own = Object.keys(shape).filter((property) => !factsOf(shape[property]).computed);
  for (const path of paths) {
    const [, head = path, below = ""] = /^([^.[\]]+)(.*)$/s.exec(path) ?? [];
    if (head !== "*" && !own.includes(head))
      return `ignoreChanges names ${path}, which is no input of ${name}; it has ${own.join(", ")}`;
    const rows = own.find((property) => ["*", property].includes(head) && factsOf(shape[property]).keyedBy);
    if (rows === undefined || (below === "" && (head === "*" || inputs["source"] === undefined))) continue;
    const what = below === "" ? "what is in a source" : `a part of ${rows}`;
    return (
      `ignoreChanges names ${path}, and ${what} can't be ignored: set mode to "upsert", which removes no row, and leave ` +
      `a label out of the rows to leave its values alone, set mode to "insertOnly" to change no row that is there, or set ` +
      `onConflict to "keepLive" to keep what is edited by hand`
    );
  }
  return undefined;
}
