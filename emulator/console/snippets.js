const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

// The log has no secrets: whoever runs a copy has them in variables, as all else here takes them.
const variables = { password: "MICROAPPS_PASSWORD", authToken: "MICROAPPS_TOKEN", apiKey: "MICROAPPS_API_KEY" };
const isHidden = ([name, value]) => value === "***" && Object.hasOwn(variables, name);

/** JSON with `written` in place of each value that the log hides. */
function jsonOf(request, written) {
  if (!Object.entries(request).some(isHidden)) return JSON.stringify(request);
  const members = Object.entries(request).map(
    (entry) =>
      `${JSON.stringify(entry[0])}:${isHidden(entry) ? written(variables[entry[0]]) : JSON.stringify(entry[1])}`,
  );
  return `{${members.join(",")}}`;
}

const headersOf = {
  none: [],
  token: ['--header "x-auth-token: $MICROAPPS_TOKEN"', '--header "x-user-id: $MICROAPPS_USER_ID"'],
};
headersOf["token+key"] = [...headersOf.token, '--header "x-api-key: $MICROAPPS_API_KEY"'];

/** A logged call as a command; the session is the caller's own. */
export function curlCommand({ method, path, auth, request }) {
  const address = new URL(`.${path}`, document.baseURI);
  const headers = headersOf[auth];
  if (method === "GET") {
    for (const [name, value] of Object.entries(request)) address.searchParams.set(name, value);
    return ["curl", quoted(address.href), ...headers].join(" ");
  }
  const json = jsonOf(request, (variable) => `"\0${variable}\0"`);
  const data = quoted(json).replaceAll(/\0(\w+)\0/g, `'"$$$1"'`);
  return ["curl", quoted(address.href), ...headers, "--header 'content-type: application/json'", "--data", data].join(
    " ",
  );
}

/** A logged call as a line of a program with the client. */
export const clientCode = ({ endpoint, request }) =>
  `await client.${endpoint}(${jsonOf(request, (variable) => `process.env.${variable}`)});`;

/** True if the log has all of a call's parameters. */
export const isWhole = ({ request }) => request.sha256 === undefined;
