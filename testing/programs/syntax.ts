import type { SyntaxNode } from "@lezer/common";
import type { Problem } from "./program.ts";

/** Children of a node, or those of one kind. */
export function childrenOf(node: SyntaxNode, kind?: string): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (child.name !== "Comment" && (kind === undefined || child.name === kind)) children.push(child);
  }
  return children;
}

export const textOf = ({ from, to }: SyntaxNode, source: string): string => source.slice(from, to);

/** Where a parser had to guess: the file is not in the language. */
export function errorsOf(root: SyntaxNode, language: string): Problem[] {
  let first: number | undefined;
  root.cursor().iterate((node) => {
    if (node.type.isError) first ??= node.from;
  });
  return first === undefined ? [] : [{ at: first, message: `this is no ${language}` }];
}
