import { expect } from "@jest/globals";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterEveryFile } from "../../../testing/runner/endings.ts";
import type { Emulator, EmulatorOptions } from "../../emulator.ts";
import { signIn, start, type Caller } from "../platform.ts";

let browser: Promise<Browser> | undefined;

function launch(): Promise<Browser> {
  const executablePath = process.env["CHROMIUM"];
  if (executablePath === undefined) throw new Error("CHROMIUM must be the path of a browser: make test-console");
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : []; // Chromium has no sandbox for root
  return chromium.launch({ executablePath, args });
}

afterEveryFile(async () => {
  await (await browser)?.close();
  browser = undefined;
});

/** A console in a browser, and the platform that it shows. */
export interface Opened {
  page: Page;
  emulator: Emulator;
  admin: Caller;
  /** Opens an address, and waits for its heading. */
  open: (hash: string, heading: string) => Promise<void>;
  /** Presses a button, in the dialog if one is open. */
  press: (button: string) => Promise<void>;
  /** Writes into a control, by its label. */
  write: (label: string, text: string) => Promise<void>;
  /** Waits until the page shows a text as its state. */
  noticed: (text: string) => Promise<void>;
}

interface Opening {
  options?: EmulatorOptions;
  context?: BrowserContextOptions;
  /** Address and password of who fills; the tests' administrator when it is left out. */
  as?: [email: string, password: string];
  /** Fills the platform before the page is opened. */
  fill?: (admin: Caller) => Promise<unknown>;
}

/** Opens the console. A page with errors, or that asks for anything elsewhere, fails the test. */
export async function inBrowser(
  work: (opened: Opened) => Promise<void>,
  { options, context: settings, as = ["admin@example.com", "admin"], fill }: Opening = {},
): Promise<void> {
  const emulator = await start(options);
  const admin = await signIn(emulator.url, ...as);
  await fill?.(admin);
  browser ??= launch();
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 800 }, ...settings });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("request", (request) => {
    if (!/^data:/.test(request.url()) && !request.url().startsWith(`${emulator.url}/`)) problems.push(request.url());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  const titled = (name?: string) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  const open = (hash: string, heading: string) => page.goto(`${emulator.url}/${hash}`).then(() => titled(heading));
  const press = (name: string) =>
    page.locator("dialog[open], body:not(:has(dialog[open]))").getByRole("button", { name, exact: true }).click();
  const write = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
  const noticed = (text: string) => page.getByRole("status").filter({ hasText: text }).waitFor({ state: "attached" });
  try {
    await page.goto(emulator.console).then(() => titled());
    await work({ page, emulator, admin, open, press, write, noticed });
  } finally {
    await context.close(); // before the emulator, which the page asks all the time
  }
  expect(problems).toEqual([]);
}

export const countries = (count: number): object[] =>
  Array.from({ length: count }, (_, n) => {
    return { Code: `C${String(n).padStart(3, "0")}`, Name: `Country ${n}`, Population: count - n };
  });

/** Fills the platform with rows of countries. */
export const rowsOf = (count: number) => async (admin: Caller) => {
  const rows = countries(count);
  for (let first = 0; first < count; first += 10_000)
    await admin.call("insertmicroapprows", { microAppID: "countries", rows: rows.slice(first, first + 10_000) });
};

/** Something in each view; `text` stands wherever people may write what they like. */
export async function everything(admin: Caller, text = "plain"): Promise<void> {
  const rows = [{ Code: "CZ", Name: text, Population: 1 }, ...countries(60)];
  await admin.call("insertmicroapprows", { microAppID: "countries", rows });
  const info = { name: `Acme ${text}`, description: text };
  await admin.get("", "insertorganization", { organizationInfo: { _id: "acme", ...info } });
  const team = { _id: "crew", organizationID: "acme", name: `Crew ${text}`, description: text };
  await admin.get("", "insertteam", { teamInfo: team });
  await admin.get("", "insertteammembers", { teamIDs: ["crew"], emails: ["ada@example.com", "new@example.com"] });
  await admin.call("readteam", { teamID: text });
}
