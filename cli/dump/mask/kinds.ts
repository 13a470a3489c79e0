/** Kinds of values that a mask finds by their name or form. */
export type PrivateKind =
  | "password"
  | "token"
  | "key"
  | "cookie"
  | "secret"
  | "email"
  | "person"
  | "user"
  | "phone"
  | "link";

// By the name of a key or a label, in small letters without what is no letter or digit.
const byName: readonly (readonly [RegExp, PrivateKind])[] = [
  [/pass(word|wd|phrase|code)s?$|^pwd$/, "password"],
  [/apikeys?$|accesskey(id)?$/, "key"],
  [/tokens?$|^jwt$|^bearer$|^authorization$/, "token"],
  [/cookies?$|session(id|key)?$/, "cookie"],
  [/secrets?$|credentials?$|signature$|^sig$|privatekey$|^otp$|^pin$|^iban$|ssn$/, "secret"],
  [/e?mails?$|mailaddress(es)?$/, "email"],
  [/phone(number)?s?$|mobile(number)?s?$|^tel$|telephone|^fax(number)?$/, "phone"],
  [/^(first|last|middle|full|display|given|family|sur|user|nick|maiden|birth)names?$/, "person"],
  [
    /^(person|contact|owner|manager|assignee|employee|customer|applicant|attendee|recipient|sender)(name)?s?$/,
    "person",
  ],
  [/^(created|updated|assigned|approved|submitted|modified)by$/, "person"],
  [/^(user|admin|creator|owner|author|sender|assignee|requester|device)ids?$|^viewers$|^author$/, "user"],
];

/** The kind of a value, judged by its name. */
export function kindOfName(name: string): PrivateKind | undefined {
  const plain = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
  return byName.find(([pattern]) => pattern.test(plain))?.[1];
}

const email = /[\p{L}\p{N}._%+'-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;
const shapes: readonly (readonly [RegExp, PrivateKind])[] = [
  [email, "email"],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g, "token"],
  [/(?<=\b(?:bearer|basic|token) )[\w.~+/=-]{8,}/gi, "token"],
  [/(?<!\w)(?:gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,})/g, "token"],
  [/(?<!\w)(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[\w-]{16,}|(?<!\w)A[KS]IA[0-9A-Z]{16}/g, "key"],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*-----|$)/g, "secret"],
  [/(?<![\w.])(?:\+|00)[1-9](?:[ ()./-]*\d){6,14}(?!\w)/g, "phone"],
  [/(?<=\(?)(?<![\w.])0\d{1,4}[ )/-]{1,2}\d(?:[ /-]?\d){4,10}(?![\w.-])/g, "phone"],
];
const displayed = /(\p{Lu}[\p{L}'.-]+(?: \p{Lu}[\p{L}'.-]+){1,3})"? ?<[^<>@\s]+@[^<>\s]+>/gu;
const link = /\b[a-z][a-z\d+.-]*:\/\/[^\s"'<>\\]+/gi;

/** Shortest value in a link's query that is taken for a part of its signature. */
const shortestInLink = 4;

/** Finds secrets that a text shows by its form alone. */
export function* findSecrets(text: string): Generator<readonly [string, PrivateKind]> {
  for (const [pattern, kind] of shapes) for (const [found] of text.matchAll(pattern)) yield [found, kind];
  for (const [, name = ""] of text.matchAll(displayed)) yield [name, "person"];
  for (const [found] of text.matchAll(link)) {
    const url = URL.parse(found);
    if (!url) continue;
    for (const part of [url.username, url.password]) if (part !== "") yield [decoded(part), "password"];
    const query = found.includes("?") ? found.slice(found.indexOf("?") + 1).replace(/#.*$/s, "") : "";
    for (const part of query.split("&")) {
      const written = part.includes("=") ? part.slice(part.indexOf("=") + 1) : "";
      // Also in the encoded spelling: readers need not decode it.
      for (const value of new Set([written, decoded(written)])) {
        if (value.length >= shortestInLink) yield [value, "link"];
      }
    }
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
