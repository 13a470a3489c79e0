import { findSecrets, kindOfName, type PrivateKind } from "./kinds.ts";
import type { MaskedKind } from "./masksFile.ts";

const kinds: Readonly<Record<PrivateKind, MaskedKind>> = {
  email: "address",
  phone: "telephone",
  person: "name",
  password: "token",
  token: "token",
  key: "token",
  cookie: "token",
  secret: "token",
  link: "token",
  user: "token",
};

/** A telephone number without a country's or a zero before it. */
const telephone = /^\(?\d{3}\)?[ ./-]\d{3}[ .-]\d{4}$/;
/** Long text of letters and digits without a space, as tokens and IDs are. */
const opaque = /^(?=.*\d)(?=.*[A-Za-z])[\w+/=.~-]{16,}$/;
/** Two to four words with capitals, as names of people are. */
const named = /^\p{Lu}[\p{L}'.-]*(?:,? \p{Lu}[\p{L}'.-]*){1,3}$/u;
const separator = /\s*[;,\n]\s*/;
/** Quick look at texts in which none of the forms can be. */
const plain = /^[\p{L} ]*$/u;

/** A part of a text that looks like a kind. */
export interface Lookalike {
  kind: MaskedKind;
  text: string;
}

/** The kind that a label's name announces. */
export function kindOfLabel(label: string): MaskedKind | undefined {
  const kind = kindOfName(label);
  return kind && kinds[kind];
}

/** Parts of a text that look like addresses, telephone numbers or tokens. */
export function findLookalikes(text: string): Lookalike[] {
  if (plain.test(text)) return [];
  if (telephone.test(text)) return [{ kind: "telephone", text }];
  if (opaque.test(text) && !text.includes("@")) return [{ kind: "token", text }];
  return Array.from(findSecrets(text), ([found, kind]) => ({ kind: kinds[kind], text: found }));
}

/** True for a name of a person, or a list of such names. */
export const looksLikeNames = (text: string): boolean => {
  const parts = text.split(separator).filter((part) => part !== "");
  return named.test(text) || (parts.length > 1 && parts.every((part) => named.test(part)));
};
