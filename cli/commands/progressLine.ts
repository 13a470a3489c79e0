import { printableLine } from "../../platform/messages/text.ts";

interface Stream {
  isTTY?: boolean;
  write: (text: string) => unknown;
}

/** A line on a terminal that the next one replaces, ten in a second at most; elsewhere one in ten seconds. */
export function progressLine(
  stream: Stream,
  now: () => number = () => performance.now(),
): { show: (text: string) => void; end: () => void } {
  const throttleMs = stream.isTTY ? 100 : 10_000;
  let last = now();
  let shown = false;
  return {
    show: (text) => {
      if (now() - last < throttleMs) return;
      last = now();
      shown = true;
      const line = printableLine(text); // tables are called as the platform calls them
      stream.write(stream.isTTY ? `\r\u001B[K${line}` : `${line}\n`);
    },
    end: () => {
      if (shown && stream.isTTY) stream.write("\r\u001B[K");
    },
  };
}
