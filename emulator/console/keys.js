import { isDialogOpen, shortcutHelp } from "./dialogs.js";

const meanings = [
  ["/", "Search tables, teams and people"],
  ["1 – 9", "Open a view"],
  ["n, p", "Next and previous page of rows"],
  ["f", "Filter what is shown"],
  ["↑ ↓ ← →", "Go through the tree, open and close its parts"],
  ["Esc", "Close a dialog or the menu"],
  ["?", "This list"],
];

export const help = () => shortcutHelp(meanings);

const press = (shortcut) => document.querySelector(`main [data-key="${shortcut}"]:not(:disabled)`)?.click();

function focus(event, selector) {
  const control = document.querySelector(selector);
  if (!control) return;
  event.preventDefault(); // else the key is written into it
  control.focus();
}

/** Single keys do something wherever nothing is being written. */
export function listenForKeys(views, openMenu) {
  addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || isDialogOpen()) return;
    if (target.closest?.("input:not([type=radio]):not([type=checkbox]), select, textarea")) return;
    if (key === "/") {
      openMenu();
      focus(event, "#search");
    } else if (key === "?") help();
    else if (key === "f") focus(event, "main [data-key=f]");
    else if (key === "n" || key === "p") press(key);
    else if (/^[1-9]$/.test(key) && views[key - 1]) location.hash = views[key - 1];
  });
}
