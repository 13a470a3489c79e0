/** Keeps the token of the address that the emulator printed, in this tab, and takes it out of sight. */
export function keepToken() {
  const [, token] = /^#token=([\w-]+)$/.exec(location.hash) ?? [];
  if (token === undefined) return;
  sessionStorage.setItem("token", token);
  history.replaceState(null, "", location.pathname);
}

/** Asks the emulator about itself. The page's own address decides which platform it is. */
export async function ask(path, { method = "GET", query = {}, body } = {}) {
  const present = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const search = new URLSearchParams(present).toString();
  const response = await fetch(`_emulator/${path}${search === "" ? "" : `?${search}`}`, {
    method,
    headers: { authorization: `Bearer ${sessionStorage.getItem("token") ?? ""}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Error("The emulator does not answer");
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  return answer;
}
