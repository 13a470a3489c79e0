const seconds = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 } as const;

/** Reads a duration such as `1h30m` as seconds; undefined when it is not one, which the engine reports. */
export function secondsIn(duration: string | undefined): number | undefined {
  if (duration === undefined || !/^(?:[\d.]+(?:h|ms|m|s|us|µs|ns))+$/.test(duration)) return undefined;
  const parts = [...duration.matchAll(/([\d.]+)(h|ms|m|s|us|µs|ns)/g)];
  // The expression lets through these units alone.
  const sum = parts.reduce((sum, [, count, unit]) => sum + Number(count) * seconds[unit as keyof typeof seconds], 0);
  return Number.isFinite(sum) ? sum : undefined;
}
