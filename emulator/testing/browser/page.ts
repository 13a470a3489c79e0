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
  /** Opens a view through the navigation. */
  view: (name: string) => Promise<void>;
  /** Opens a table, organization, team or user through the tree. */
  open: (name: string) => Promise<void>;
  /** Waits until the page shows how something ended. */
  noticed: (text: string) => Promise<void>;
  /** Waits for a dialog's question and presses its button. */
  decide: (question: string, button: string) => Promise<void>;
  /** Requests of the page, and errors in it. */
  requests: string[];
  problems: string[];
}

export interface Opening {
  options?: EmulatorOptions;
  context?: BrowserContextOptions;
  /** Address and password of who fills; the tests' administrator when it is left out. */
  as?: [email: string, password: string];
  /** Fills the platform before the page is opened. */
  fill?: (admin: Caller, emulator: Emulator) => Promise<unknown>;
}

/** Opens the console. A page with errors, or that asks for anything elsewhere, fails the test. */
export async function inBrowser(
  work: (opened: Opened) => Promise<void>,
  { options, context: settings, as = ["admin@example.com", "admin"], fill }: Opening = {},
): Promise<void> {
  const emulator = await start(options);
  const admin = await signIn(emulator.url, ...as);
  await fill?.(admin, emulator);
  const context = await (
    await (browser ??= launch())
  ).newContext({ viewport: { width: 1280, height: 800 }, ...settings });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const requests: string[] = [];
  const problems: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  const view = async (name: string): Promise<void> => {
    const menu = page.getByRole("button", { name: "Menu" });
    if (await menu.isVisible()) await menu.click();
    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  };
  const open = async (name: string): Promise<void> => {
    await page.getByRole("navigation", { name: "Contents" }).getByRole("link", { name, exact: true }).first().click();
    await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  };
  const noticed = (text: string) => page.getByRole("status").filter({ hasText: text }).waitFor();
  const decide = async (question: string, button: string): Promise<void> => {
    const dialog = page.getByRole("dialog", { name: question });
    await dialog.getByRole("button", { name: button, exact: true }).click();
    await dialog.waitFor({ state: "hidden" });
  };
  try {
    await page.goto(emulator.console);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await work({ page, emulator, admin, view, open, noticed, decide, requests, problems });
  } finally {
    await context.close(); // before the emulator, which the page asks all the time
  }
  expect(problems).toEqual([]);
  expect(requests.filter((url) => !url.startsWith(`${emulator.url}/`) && !url.startsWith("data:"))).toEqual([]);
}
