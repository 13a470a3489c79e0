let notice = { message: "", kind: "good" };
let timer;
let redraw = () => undefined;

export const currentNotice = () => notice;
export const onNotice = (draw) => void (redraw = draw);

/** Shows how something ended. Good news goes by itself, a failure stays until the next notice. */
export function notify(message, kind = "good") {
  clearTimeout(timer);
  notice = { message, kind };
  if (kind === "good" && message !== "") timer = setTimeout(() => notify(""), 6000);
  redraw();
}

/** Does something that a person asked for, and shows how it ended. */
export async function act(done, work) {
  try {
    await work();
    notify(done);
  } catch (error) {
    notify(error.message, "bad");
  }
}

/** Puts an ID on the clipboard. */
export const copy = (value) => act(`Copied ${value}`, () => navigator.clipboard.writeText(value));

/** Puts a longer text on the clipboard, which the notice names. */
export const copyText = (name, text) => act(`Copied ${name}`, () => navigator.clipboard.writeText(text));
