import { styleText } from "node:util";

export type Style = Parameters<typeof styleText>[0];
export type Paint = (style: Style, text: string) => string;
export type ColorChoice = "always" | "never" | "auto";

/**
 * True when output has colour. `--color`, NO_COLOR (no-color.org: any value but the empty one) and the terminal decide.
 */
export function allowsColor(
  choice: ColorChoice,
  environment: Record<string, string | undefined>,
  terminal: boolean,
): boolean {
  if (choice !== "auto") return choice === "always";
  return terminal && !environment["NO_COLOR"] && environment["TERM"] !== "dumb";
}

/** Makes the function that colours texts, or leaves them as they are. */
export function createPaint(color: boolean): Paint {
  return (style, text) => (color && text !== "" ? styleText(style, text, { validateStream: false }) : text);
}

export const headline: Style = ["magentaBright", "bold"];
