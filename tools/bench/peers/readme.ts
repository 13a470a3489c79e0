import type { Panel } from "./picture.ts";

const [begin, end] = ["<!-- Written by `make bench-peers`. -->", "<!-- Here it ends. -->"];

/** A table whose columns stand below each other. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const [heads, ...others] = rows.map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
  return [heads ?? [], widths.map((width) => "-".repeat(width)), ...others].map((cells) => `| ${cells.join(" | ")} |`);
}

/** The seconds and calls of each tool, of panels with the same jobs: one beside the other in each cell. */
export function tableOf(title: string, panels: readonly Panel[]): string[] {
  const [{ jobs, peers } = { jobs: [], peers: [] }] = panels;
  const cell = (peer: number, job: number): string => {
    const seconds = panels.map((panel) => panel.peers[peer]?.seconds[job]?.toFixed(1) ?? "");
    return `${seconds.join(" / ")} s, ${peers[peer]?.calls[job] ?? 0} calls`;
  };
  return aligned([
    [title, ...jobs],
    ...peers.map(({ name }, peer) => [name, ...jobs.map((_, job) => cell(peer, job))]),
  ]);
}

/** Puts lines in the place of those between the two marks of a page. */
export function renewSection(page: string, lines: readonly string[]): string {
  const [before, rest = ""] = page.split(begin);
  const [, after] = rest.split(end);
  if (before === undefined || after === undefined) throw new Error(`the page lacks ${begin} or ${end}`);
  return `${before}${begin}\n\n${lines.join("\n")}\n\n${end}${after}`;
}
