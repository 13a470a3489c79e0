import { parentPort } from "node:worker_threads";
import type { KeptRow } from "./records.ts";
import { scorer, type TextSearch } from "./scoring.ts";

// A thread that tries documents, so that no pattern of a caller's keeps the platform from answering others.

let score: ReturnType<typeof scorer> | undefined;

parentPort?.on("message", (message: { search: TextSearch } | { rows: KeptRow[] }) => {
  if ("search" in message) {
    score = scorer(message.search);
    parentPort?.postMessage([]); // it is there, and its time begins
  } else parentPort?.postMessage(score?.(message.rows) ?? []);
});
