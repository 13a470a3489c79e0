/** Fraction of things that one run may remove by default. */
export const defaultMaxRemovals = 0.25;

/** Up to this count the fraction limit does not apply. */
const fewest = 10;

/**
 * Explains why this number of removals is refused; undefined when it is allowed.
 * @param what what they are, in the plural
 * @param owned how many there were before
 * @param from the number from which on the limit applies
 */
export const tooManyRemovals = (what: string, removals: number, owned: number, maxRemovals?: number, from?: number) =>
  tooMany(`${removals} of ${owned} ${what} would be removed`, removals, owned, maxRemovals, from);

/** Explains why a label must not be cleared in this number of our rows; undefined when it may. */
export const tooManyCleared = (label: string, rows: number, owned: number, maxRemovals?: number) =>
  tooMany(`${label} would be cleared in ${rows} of ${owned} rows`, rows, owned, maxRemovals);

function tooMany(what: string, count: number, owned: number, maxRemovals = defaultMaxRemovals, from = fewest) {
  if (owned < from || count <= owned * maxRemovals) return undefined;
  const remedy = `If that is meant, set maxRemovals to ${enough(count, owned)} for this run.`;
  return `${what}, more than maxRemovals allows (${percent(maxRemovals)}). ${remedy}`;
}

/** How many things one run may remove. */
export const removable = (owned: number, maxRemovals = defaultMaxRemovals): number =>
  owned < fewest ? owned : Math.floor(owned * maxRemovals);

/**
 * Explains why this number of our things can't be missing on the platform; undefined when it can. More likely the platform
 * answers wrongly, or it is another one.
 */
export function massDisappearance(
  what: string,
  missing: number,
  owned: number,
  maxRemovals = defaultMaxRemovals,
): string | undefined {
  if (owned < fewest || missing <= owned * maxRemovals) return undefined;
  return (
    `${missing} of ${owned} ${what} that were applied are not on the platform any more, more than maxRemovals allows ` +
    `(${percent(maxRemovals)}). Check that this is the right platform and that it is well; ` +
    `if they are really gone, set maxRemovals to ${enough(missing, owned)} for one up, without a refresh before it, ` +
    `which would use the value in the state. If the platform lost its data, run up --refresh once with ` +
    `MICROAPPS_LOST_DATA=true, which makes again all that is gone (see docs/guides/platform.md).`
  );
}

const percent = (fraction: number): string => `${Number((fraction * 100).toFixed(2))} %`;

/** The smallest fraction of two places that allows it. */
const enough = (part: number, whole: number): number => Math.min(1, Math.ceil((part / whole) * 100) / 100);
