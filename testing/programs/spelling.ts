import type { Callable, Shape, Type } from "./schema.ts";

/** What a member of the package is. */
export type Meaning =
  | { kind: "resource" | "function"; of: Callable }
  /** A literal or constructor of inputs, e.g. `TeamArgs`. */
  | { kind: "inputs"; of: Shape }
  /** A map or list whose elements are of one type, e.g. `SeedRowsReferencesMap`. */
  | { kind: "elements"; of: Type }
  /** An enumeration, with its constants where they are members of it. */
  | { kind: "enumeration"; name: string; constants: readonly string[] }
  | { kind: "value" };

/** How a language spells the names of the schema, as Pulumi's generator of its SDKs does. */
export interface Spelling {
  property: (name: string) => string;
  /** All that the package has. */
  members: ReadonlyMap<string, Meaning>;
  /** Whether every resource, or every output, has something of this name. */
  isCommon: (name: string) => boolean;
  /** Arguments of a call beside the inputs. */
  options: readonly string[];
}
