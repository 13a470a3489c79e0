import { styleText } from "node:util";

export type Style = Parameters<typeof styleText>[0];
export type Paint = (style: Style, text: string) => string;
export type ColorChoice = "always" | "never" | "auto";

/** Whether `--color`, NO_COLOR (no-color.org: any value but the empty one) and the terminal allow colours. */
export function allowsColor(
  choice: ColorChoice,
  environment: Record<string, string | undefined>,
  terminal: boolean,
): boolean {
  if (choice !== "auto") return choice === "always";
  return terminal && !environment["NO_COLOR"] && environment["TERM"] !== "dumb";
}

/** The decision is made by the caller, so node must not look at its own stdout again. */
export function createPaint(color: boolean): Paint {
  return (style, text) => (color && text !== "" ? styleText(style, text, { validateStream: false }) : text);
}

export const headline: Style = ["magentaBright", "bold"];
export const bold = (style: Style): Style => (Array.isArray(style) ? ["bold", ...style] : ["bold", style]);
