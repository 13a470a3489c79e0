import { summarize, type RowDeclaration, type Summary } from "../declared/declaration.ts";

/** Rows of a preview, and if only the platform shows how many of them change. */
interface Compared {
  summary: Summary;
  isVague: boolean;
}

const toText = ({ ignoreLabels = [] }: RowDeclaration): string => JSON.stringify(ignoreLabels.toSorted());

/**
 * The rows with the labels that the last run compared, where more of them are left to others now: their record is of
 * those. A label that is taken back is compared on the platform alone.
 */
export async function inLastLabels(
  old: RowDeclaration,
  inputs: RowDeclaration,
  summary: Summary,
  directory: string,
): Promise<Compared> {
  if (toText(old) === toText(inputs)) return { summary, isVague: false };
  const { ignoreLabels = [] } = old;
  if (ignoreLabels.some((label) => !inputs.ignoreLabels?.includes(label))) return { summary, isVague: true };
  return {
    summary: await summarize({ ...inputs, ignoreLabels, expect: undefined }, directory),
    isVague: true,
  };
}
