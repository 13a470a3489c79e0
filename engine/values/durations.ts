import { EngineError } from "../errors.ts";

const seconds: Record<string, number> = { ns: 1e-9, us: 1e-6, µs: 1e-6, μs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };

/** Reads a duration as Go writes it, such as `1h30m` or `0.5s`; in seconds. `where` names the option in errors. */
export function parseDuration(text: string, where: string): number {
  const parts = [...text.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy)];
  const read = parts.reduce((length, [part]) => length + part.length, 0);
  if (read !== text.length || read === 0) {
    throw new EngineError(`${where}: '${text}' is not a duration such as '30s', '5m' or '1h30m'`);
  }
  return parts.reduce((total, [, count, unit]) => total + Number(count) * (seconds[unit ?? ""] ?? 0), 0);
}
