import { messageOf } from "../../machine/failures.ts";
import type { FailedJob } from "./measure.ts";

/** Cost of a job at one size. */
export interface Point {
  size: number;
  seconds: number;
  calls: number;
  /** Most that the process had, in MB; null where that is not known. */
  memory: number | null;
}

/** One line of a picture; what came after a failure was not measured. */
export interface CurveLine {
  label: string;
  points: readonly Point[];
  failed?: { size: number; reason: string };
}

/** How a job's cost grows. */
export interface Curves {
  /** Name of its picture's file. */
  name: string;
  title: string;
  /** Unit of the sizes: `rows`, `members`, `resources`. */
  unit: string;
  lines: readonly CurveLine[];
  /** Day and machine, where it was not measured with the others. */
  from?: string;
}

/** Measures one size after the other. */
export async function line(
  label: string,
  sizes: readonly number[],
  measure: (size: number) => Promise<Omit<Point, "size">>,
): Promise<CurveLine> {
  const points: Point[] = [];
  for (const size of sizes) {
    try {
      points.push({ size, ...(await measure(size)) });
    } catch (error) {
      return { label, points, failed: { size, reason: messageOf(error) } };
    }
  }
  return { label, points };
}

const measures = [
  { of: (point: Point) => point.seconds, title: "seconds" },
  { of: (point: Point) => point.calls, title: "calls" },
  { of: (point: Point) => point.memory ?? 0, title: "MB" },
];
const written = (value: number | null): string =>
  value === null ? "" : Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });

/** The sizes at which lines ended before their end. */
export const failures = ({ title, lines }: Curves): FailedJob[] =>
  lines.flatMap(({ label, failed }) =>
    failed ? [{ job: `${title}: ${label}, ${failed.size.toLocaleString("en")}`, reason: failed.reason }] : [],
  );

/** A text as a cell of a table: its first line. */
export const inCell = (text: string): string => (text.trim().split("\n")[0] ?? "").replaceAll("|", "\\|");

/** The points as a table. */
export const points = ({ unit, lines }: Curves): string[] => [
  `| job | ${unit} | seconds | calls | MB |`,
  "| --- | ---: | ---: | ---: | ---: |",
  ...lines.flatMap(({ label, points, failed }) => [
    ...points.map(
      ({ size, seconds, calls, memory }) =>
        `| ${label} | ${size.toLocaleString("en")} | ${written(seconds)} | ${calls.toLocaleString("en")} | ${written(memory)} |`,
    ),
    ...(failed
      ? [`| ${label} | ${failed.size.toLocaleString("en")} | **failed**: ${inCell(failed.reason)} | | |`]
      : []),
  ]),
];

const width = 300;
const height = 200;
const left = 56;
const top = 34;
const gap = 84;
const colors = ["#0969da", "#bc4c00", "#1a7f37", "#8250df"];

/** Powers of ten around these values. */
function decades(values: readonly number[]): [number, number] {
  if (values.length === 0) return [0, 1];
  const from = Math.floor(Math.log10(Math.min(...values)));
  return [from, Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values))))];
}

const tick = (exponent: number): string =>
  exponent < 0 ? String(10 ** exponent) : (10 ** exponent).toLocaleString("en", { notation: "compact" });

/** Both axes in powers of ten: what costs ten times as much for ten times the size is a line of 45 degrees there. */
export function picture({ title, unit, lines }: Curves): string {
  const all = lines.flatMap(({ points }) => points);
  const sizes = decades(all.map(({ size }) => size));
  const panels = measures.map(({ of, title: measure }, at) => {
    const shown = (value: number): boolean => value > 0;
    const range = decades(all.map(of).filter(shown));
    const x = (size: number): number => (width * (Math.log10(size) - sizes[0])) / (sizes[1] - sizes[0]);
    const y = (value: number): number => height - (height * (Math.log10(value) - range[0])) / (range[1] - range[0]);
    const across = Array.from({ length: range[1] - range[0] + 1 }, (_, i) => range[0] + i).map((exponent) => {
      const place = y(10 ** exponent).toFixed(1);
      return `<path d="M0 ${place}H${width}"/><text x="-6" y="${place}" dy="4" text-anchor="end">${tick(exponent)}</text>`;
    });
    const down = Array.from({ length: sizes[1] - sizes[0] + 1 }, (_, i) => sizes[0] + i).map((exponent) => {
      const place = x(10 ** exponent).toFixed(1);
      return `<path d="M${place} 0V${height}"/><text x="${place}" y="${height + 16}" text-anchor="middle">${tick(exponent)}</text>`;
    });
    const drawn = lines.map(({ points }, line) => {
      const places = points
        .filter((point) => shown(of(point)))
        .map((point) => `${x(point.size).toFixed(1)},${y(of(point)).toFixed(1)}`);
      const color = colors[line % colors.length] ?? "";
      const dots = places.map((place) => `<circle cx="${place.replace(",", '" cy="')}" r="3" fill="${color}"/>`);
      return `<polyline points="${places.join(" ")}" fill="none" stroke="${color}" stroke-width="2"/>${dots.join("")}`;
    });
    return `<g transform="translate(${left + at * (width + gap)} ${top})"><text y="-12" class="title">${measure} by ${unit}</text><g class="grid">${across.join("")}${down.join("")}</g>${drawn.join("")}</g>`;
  });
  const legend = lines.map(({ label }, line) => {
    const place = left + line * 300;
    return `<rect x="${place}" y="${top + height + 36}" width="12" height="12" fill="${colors[line % colors.length] ?? ""}"/><text x="${place + 18}" y="${top + height + 46}">${label}</text>`;
  });
  const box = `0 0 ${left + 3 * (width + gap)} ${top + height + 60}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}" role="img" aria-label="${title}"><style>text{font:12px system-ui,sans-serif;fill:#57606a}.title{font-weight:600}.grid path{stroke:#8c959f;stroke-opacity:.35;fill:none}</style><rect width="100%" height="100%" fill="#fff"/>${panels.join("")}${legend.join("")}</svg>
`;
}
