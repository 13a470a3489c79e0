/** Seconds and calls of each job, by peer, at one distance to the platform. */
export interface Panel {
  title: string;
  jobs: readonly string[];
  peers: readonly { name: string; seconds: readonly number[]; calls: readonly number[] }[];
}

const colors = ["#0969da", "#1a7f37", "#54aeff", "#bc4c00", "#8250df", "#218bff", "#80ccff", "#e16f24"];
const [left, width, bar, gap] = [150, 420, 11, 14];

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** Draws bars of seconds, one panel for each distance. Panels have scales of their own. */
export function picture(panels: readonly Panel[]): string {
  const peers = [...new Set(panels.flatMap((panel) => panel.peers.map(({ name }) => name)))];
  const colorOf = (name: string): string => colors[peers.indexOf(name) % colors.length] ?? "";
  let y = 24;
  const parts: string[] = [];
  for (const { title, jobs, peers: shown } of panels) {
    parts.push(`<text x="0" y="${y}" class="title">${escaped(title)}</text>`);
    y += 14;
    const most = Math.max(...shown.flatMap(({ seconds }) => seconds), Number.MIN_VALUE);
    for (const [at, job] of jobs.entries()) {
      parts.push(`<text x="${left - 8}" y="${y + bar}" text-anchor="end">${escaped(job)}</text>`);
      for (const { name, seconds } of shown) {
        const value = seconds[at] ?? 0;
        const length = ((width * value) / most).toFixed(1);
        parts.push(
          `<rect x="${left}" y="${y}" width="${length}" height="${bar}" fill="${colorOf(name)}"/>`,
          `<text x="${left + Number(length) + 4}" y="${y + bar - 2}" class="value">${value.toFixed(1)} s</text>`,
        );
        y += bar + 1;
      }
      y += gap;
    }
    y += gap;
  }
  for (const name of peers) {
    parts.push(
      `<rect x="0" y="${y - 10}" width="12" height="12" fill="${colorOf(name)}"/><text x="18" y="${y}">${escaped(name)}</text>`,
    );
    y += 18;
  }
  const style =
    "text{font:12px system-ui,sans-serif;fill:#57606a}.title{font-weight:600}.value{font-size:10px}rect{rx:1px}";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 0 ${left + width + 60} ${y + 10}" role="img" aria-label="Seconds of each job, by tool"><style>${style}</style><rect x="-10" width="100%" height="100%" fill="#fff"/>${parts.join("")}</svg>
`;
}
