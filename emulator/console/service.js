/** Keeps the token of the address that the emulator printed, in this tab, and takes it out of sight. */
export function keepToken() {
  const [, token] = /^#token=([\w-]+)$/.exec(location.hash) ?? [];
  if (token === undefined) return;
  sessionStorage.setItem("token", token);
  history.replaceState(null, "", location.pathname);
}

/** Asks the emulator about itself. The page's own address decides which platform it is. */
export async function ask(path, query = {}, post = {}) {
  const present = Object.entries(query).filter(([, value]) => value !== undefined);
  const headers = { authorization: `Bearer ${sessionStorage.getItem("token") ?? ""}` };
  const response = await fetch(`_emulator/${path}?${new URLSearchParams(present)}`, { headers, ...post }).catch(() => {
    throw new Error("The emulator does not answer");
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  return answer;
}

/** Sends a call of the interface as the platform's administrator. A refusal is thrown with its reason. */
export async function send(endpoint, request) {
  const { status, body } = await ask(`call/${endpoint}`, {}, { method: "POST", body: JSON.stringify(request) });
  if (status === 200 && body?.status !== "failure") return;
  const reason = status === 0 ? "There was no answer" : `The answer has status ${status}`;
  throw new Error(body?.message ?? body?.error ?? body?.body?.message ?? reason);
}

/** What the page shows beside its view. `draw` draws all of it anew. */
export const page = { notice: "", isBad: false, waits: 0, draw: () => undefined };

let timer;

/** Shows how something ended. Good news goes by itself, a failure stays until the next notice. */
export function notify(notice, isBad = false) {
  clearTimeout(timer);
  Object.assign(page, { notice, isBad });
  if (!isBad && notice !== "") timer = setTimeout(() => notify(""), 6000);
  page.draw();
}

/** Does what a person waits for, and shows how it ended: `done`, or why it failed. Resolves to true when it was done. */
export async function attempt(work, done) {
  page.waits++;
  page.draw();
  const failure = await work().then(
    () => undefined,
    ({ message }) => message,
  );
  page.waits--;
  notify(failure ?? done ?? page.notice, failure !== undefined);
  return failure === undefined;
}
