import type { HabitName, HabitValue } from "../habits/habits.ts";
import type { Fact } from "./fact.ts";
import type { Bed } from "./fixtures.ts";

/** A request as it goes out. */
export interface Outgoing {
  method: string;
  /** Path below the platform's address, or a whole address, which gets no header of a session. */
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
}

/** What came back; `text` is the body. Names of headers are in lower case. */
export interface Incoming {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
}

/** Sends one request. A GET may have a body. Rejects where no answer comes. */
export type Send = (request: Outgoing, signal?: AbortSignal) => Promise<Incoming>;

/** What came of a fact. */
export type Result = { fact: Fact; habit?: { name: HabitName; value: HabitValue } } & (
  | { status: "passed" }
  | { status: "failed"; step: number; path: string; expected: unknown; seen: unknown }
  | { status: "notTried"; why: string }
);

/** Something that a fact made, or removed again. `rows` are those of a batch: all new ones of this table. */
export interface Thing {
  kind: "row" | "rows" | "child" | "team" | "organization" | "member" | "app" | "file";
  id: string;
}

/** A platform, and what of it may be used. */
export interface Platform {
  send: Send;
  bed: Bed;
}
