import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { chromium, type Browser } from "playwright-core";
import { type Figure, figure, median } from "../measure.ts";
import { BenchPlatform, fill, manyFields } from "../platform.ts";

const repository = path.join(import.meta.dirname, "../../../..");

/** How soon the console shows the rows of a very large table, in a browser without a window. */
export async function measureConsole(count: number): Promise<Figure[]> {
  const { stdout } = await promisify(execFile)(path.join(repository, "tools/scripts/browser"));
  const platform = await BenchPlatform.start({ rows: { fields: manyFields } });
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : []; // Chromium has no sandbox for root
  const browser = await chromium.launch({ executablePath: stdout.trim(), args });
  try {
    await fill(platform, count);
    const named = count.toLocaleString("en");
    const first = await paints(browser, platform, "#tables/rows");
    const filtered = await paints(browser, platform, "#tables/rows?field=Name&kind=equals&value=Name+5");
    return [
      figure(`emulator: console shows a table of ${named} rows`, median(first), "ms", 100),
      figure(
        `emulator: console shows those of ${named} rows that fit a filter without index`,
        median(filtered),
        "ms",
        2000,
      ),
    ];
  } finally {
    await browser.close();
    await platform.stop();
  }
}

/** Opens a place of the console from its list of calls; resolves to the milliseconds until the frame with 20 rows is done. */
const opening = (place: string): string => `new Promise((resolve) => {
  const began = performance.now();
  const note = () => resolve(performance.now() - began);
  const look = () =>
    document.querySelectorAll("main tbody tr").length < 20
      ? requestAnimationFrame(look)
      : requestAnimationFrame(() => setTimeout(note));
  location.hash = ${JSON.stringify(place)};
  look();
})`;

/** A page works for a while after it was opened; a person clicks later (ms). */
const settledMs = 1500;

/** Milliseconds from a click on a table to the frame that has its rows, the first one in its page. */
async function paints(browser: Browser, platform: BenchPlatform, place: string): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < 21; round++) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.addInitScript(`sessionStorage.setItem("token", ${JSON.stringify(platform.token)})`);
    await page.goto(`${platform.url}/#calls`);
    await page.locator("main summary").first().waitFor();
    await page.waitForTimeout(settledMs);
    times.push(await page.evaluate<number>(opening(place)));
    await page.close();
  }
  return times;
}
