/** Values that expressions of workflows name. */
export interface Context {
  [name: string]: unknown;
}

/** A text with its `${{ … }}` evaluated; an expression that is more than these workflows need is an error. */
export const evaluated = (text: string, context: Context): string =>
  text.replaceAll(/\$\{\{(.*?)\}\}/g, (_, expression: string) => String(value(expression.trim(), context) ?? ""));

type Value = string | number | boolean | undefined;

function value(expression: string, context: Context): Value {
  const either = expression.split("||");
  if (either.length > 1) return either.map((each) => value(each.trim(), context)).find(Boolean);
  const both = expression.split("&&");
  if (both.length > 1) {
    const all = both.map((each) => value(each.trim(), context));
    return all.find((each) => !each) ?? all.at(-1);
  }
  const [, left = "", sign, right = ""] = /^(.+?)\s*([!=]=)\s*(.+)$/.exec(expression) ?? [];
  if (sign !== undefined) return (value(left, context) === value(right, context)) === (sign === "==");
  if (expression === "!cancelled()") return true;
  const [, quoted] = /^'([^']*)'$/.exec(expression) ?? [];
  if (quoted !== undefined) return quoted;
  if (!/^[a-z][\w.-]*$/i.test(expression)) throw new Error(`no such expression: ${expression}`);
  const [root = "", ...path] = expression.split(".");
  if (!(root in context)) throw new Error(`${root} is not known here: ${expression}`);
  const found = path.reduce<unknown>((from, key) => {
    return typeof from === "object" && from !== null && Object.hasOwn(from, key) ? Reflect.get(from, key) : "";
  }, context[root]);
  return typeof found === "object" ? "Object" : (found as Value);
}
