import type { RowDeclaration } from "./declaration.ts";
import type { LinkDeclaration } from "./links.ts";

/** The inputs of a seed that decide how its rows are written. */
export interface RowTarget extends RowDeclaration, LinkDeclaration {
  table: string;
  parent?: { table: string; key: string; by: string } | undefined;
  references?: Record<string, { table: string; key: string }> | undefined;
  viewers?: string[] | undefined;
  teamViewers?: string[] | undefined;
  userID?: string | undefined;
  ignoreActionRules?: boolean | undefined;
}
