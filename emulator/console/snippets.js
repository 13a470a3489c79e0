const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A logged call as a command; the session is the caller's own. */
export function curlCommand({ method, path, request }) {
  const address = new URL(`.${path}`, document.baseURI);
  const headers = ['--header "x-auth-token: $MICROAPPS_TOKEN"', '--header "x-user-id: $MICROAPPS_USER_ID"'];
  if (method === "GET") {
    for (const [name, value] of Object.entries(request)) address.searchParams.set(name, value);
    return ["curl", quoted(address.href), ...headers].join(" ");
  }
  const body = ["--header 'content-type: application/json'", "--data", quoted(JSON.stringify(request))];
  return ["curl", quoted(address.href), ...headers, ...body].join(" ");
}

/** A logged call as a line of a program with the client. */
export const clientCode = ({ endpoint, request }) => `await client.${endpoint}(${JSON.stringify(request)});`;

/** True if the log has all of a call's parameters. */
export const isWhole = ({ request }) => request.sha256 === undefined;
