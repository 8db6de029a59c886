// Removes secrets from text and recognises fields that contain them. It knows the shapes of keys and tokens, and the
// exact secrets of the configuration, since the keys of many providers have no distinctive shape. In doubt, text is
// hidden.

import { KEY_BEGINNINGS } from "../vendors/look-up.ts";

/** Replaces a secret. */
export const REDACTED = "[redacted]";

/** Shorter configured secrets are ignored: hiding every "test" would make logs unreadable. */
const EXACT_CHARS_MIN = 6;

/** A fast check whether any of the shapes below can match; most texts contain none. */
const GATE = new RegExp(
  `${KEY_BEGINNINGS}|sk[-_]|pplx-|gh[a-z]_|github_pat|glpat|hf_|xox|akia|asia|ya29|eyj|bearer|basic|@|passw|passphrase|secret|token|api[-_]?key|authorization|cookie|credential|private key`,
  "i",
);

/** No secret of a known shape consists of these alone, as ids of requests do; this check costs a fraction of the other. */
const HEX = /^[\da-f-]*$/;

const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  // Dumps of headers: a cookie line has several values, so the whole line is hidden.
  [/((?:set-)?cookie\\{0,3}["']?\s{0,3}[:=])[^\n]*/gi, `$1 ${REDACTED}`],
  // name=value and "name": "value", also inside JSON that is itself a string.
  [
    /((?:passw(?:or)?d|passphrase|secret|token|api[-_]?key|authorization|credentials?)\\{0,3}["']?\s{0,3}[=:]\s{0,3})(?:\\{0,3}"[^"]*|'[^']*|(?:(?:bearer|basic)\s+)?[^\s"'&,;}]+)/gi,
    `$1${REDACTED}`,
  ],
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${REDACTED}`],
  // The last @ before the path ends the user part, so a password may contain one.
  [/(:\/\/)[^\s/?#"']*@/g, `$1${REDACTED}@`],
  [
    // At the start of a word, or after a percent-encoded character.
    new RegExp(
      `(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2}))(?:${KEY_BEGINNINGS}|sk[-_]|pplx-|gh[a-z]_|github_pat_|glpat-|hf_|xox[a-z]-)[\\w-]{6,}`,
      "g",
    ),
    REDACTED,
  ],
  // Keys of accounts and of sessions, and access tokens of another cloud.
  [/A[KS]IA[0-9A-Z]{12,}/g, REDACTED],
  [/ya29\.[\w.-]{6,}/g, REDACTED],
  // JSON Web Tokens: every header starts with {" in base64.
  [/eyJ[\w-]{6,}(?:\.[\w-]*){0,4}/g, REDACTED],
];

/** Takes a text and returns it without secrets. */
export type Redact = (text: string) => string;

/**
 * A redactor that also knows these exact secrets, literally, URL-encoded or JSON-escaped. `addresses` are origins and hosts, which
 * are hidden in texts for clients, but not in logs.
 */
export function makeRedactor(secrets: readonly string[], addresses: readonly string[] = []): Redact {
  const exact = exactPattern(secrets);
  const places = addressPattern(addresses);
  return (text) => {
    const named = exact === undefined ? text : text.replace(exact, REDACTED);
    const known = places === undefined ? named : named.replace(places, REDACTED);
    return !HEX.test(known) && GATE.test(known)
      ? SHAPES.reduce((rest, [shape, instead]) => rest.replace(shape, instead), known)
      : known;
  };
}

function exactPattern(secrets: readonly string[]): RegExp | undefined {
  const spellings = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < EXACT_CHARS_MIN) continue;
    spellings.add(secret).add(encodeURIComponent(secret.toWellFormed())).add(JSON.stringify(secret).slice(1, -1));
  }
  // The longest first, so that a secret that starts with another secret is hidden completely.
  const sorted = [...spellings].sort((a, b) => b.length - a.length);
  return sorted.length === 0 ? undefined : new RegExp(sorted.map(RegExp.escape).join("|"), "g");
}

/** Matches whole hosts only: `10.0.0.5` is not a part of `110.0.0.51`, and another port is another server. */
function addressPattern(addresses: readonly string[]): RegExp | undefined {
  if (addresses.length === 0) return undefined;
  const longestFirst = [...addresses].sort((a, b) => b.length - a.length).map(RegExp.escape);
  return new RegExp(`(?<![\\w-]|\\w\\.)(?:${longestFirst.join("|")})(?![\\w-]|\\.\\w|:\\d)`, "gi");
}

const SECRET_NAME =
  /(?:passw(?:or)?d|passphrase|secrets?|token|authorization|cookies?|apikeys?|credentials?|privatekey|verifier)$/;

/** Field names are few and repeat; above this number they come from data and are not cached. */
const NAMES_REMEMBERED_MAX = 2000;
const remembered = new Map<string, boolean>();

/** Whether a field of this name holds a secret, whatever its value: `password`, `client_secret`, `accessToken`. */
export function isSecretName(name: string): boolean {
  const known = remembered.get(name);
  if (known !== undefined) return known;
  const answer = SECRET_NAME.test(name.replace(/[-_. ]/g, "").toLowerCase());
  if (remembered.size < NAMES_REMEMBERED_MAX) remembered.set(name, answer);
  return answer;
}
