/** Keeps the token of the address that the emulator printed, in this tab, and takes it out of sight. */
export function keepToken() {
  const [, token] = /^#token=([\w-]+)$/.exec(location.hash) ?? [];
  if (token === undefined) return;
  sessionStorage.setItem("token", token);
  history.replaceState(null, "", location.pathname);
}

const patienceMs = 200;
let slow = 0;
let redraw = () => undefined;

/** True while an answer takes longer than people notice. */
export const isWaiting = () => slow > 0;
export const onWaiting = (draw) => void (redraw = draw);

/** Waits for something, and has the page show that once it takes long. */
async function waitFor(promise) {
  let noticed = false;
  const count = (by) => {
    slow += by;
    redraw();
  };
  const timer = setTimeout(() => {
    noticed = true;
    count(1);
  }, patienceMs);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    if (noticed) count(-1);
  }
}

/** Asks the emulator about itself. The page's own address decides which platform it is. */
export const ask = (path, options) => waitFor(answerTo(path, options));

async function answerTo(path, { method = "GET", query = {}, body } = {}) {
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

const reasonIn = ({ status, body }) =>
  status === 0
    ? "There was no answer"
    : (body?.message ?? body?.error ?? body?.body?.message ?? `The answer has status ${status}`);

/** Sends a call of the interface as the platform's administrator. A refusal is thrown with its reason. */
export async function send({ endpoint, request }) {
  const answer = await ask(`call/${endpoint}`, { method: "POST", body: request });
  if (answer.status !== 200 || answer.body?.status === "failure") throw new Error(reasonIn(answer));
  return answer.body;
}
