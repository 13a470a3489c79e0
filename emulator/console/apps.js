import { h, table, time } from "./elements.js";
import { ask } from "./service.js";

/** Generated apps and how far they are. */
export async function apps(root) {
  async function refresh() {
    const { apps } = await ask("apps");
    const cells = ({ id, status, owner, prompt, created }) => [id, status, owner, prompt, time(created)];
    root.replaceChildren(
      h("h2", {}, "Apps"),
      table("Generations, the newest first", ["App", "Status", "Owner", "Prompt", "Begun"], apps.map(cells)),
    );
  }
  await refresh();
  const timer = setInterval(() => (root.isConnected ? void refresh() : clearInterval(timer)), 2000);
  return { refresh };
}
