/** A shell's command that posts a body with curl, and drops the answer unless it goes `into` something. */
export function curl(
  url: string,
  headers: Readonly<Record<string, string>>,
  path: string,
  body: string,
  into = "-o /dev/null",
): string {
  const flags = Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`);
  return `curl -sSf ${flags.join(" ")} -d '${body}' ${url}/api/${path} ${into}`;
}
