// How a message names a place in the configuration and shows a value: short, on one line, and never a secret.

import { KEY_BEGINNINGS } from "../vendors/look-up.ts";

/** `providers.openai.api_keys[0]` */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  const plain = /^[^\s.[\]"]+$/.test(key) ? key : JSON.stringify(key);
  return path === "" ? plain : `${path}.${plain}`;
}

/** The rest of longer values adds nothing. */
const SHOWN_CHARS_MAX = 80;

// Shapes of common keys, wherever they occur: someone may have put a key on the wrong line.
const SECRET_SHAPE = new RegExp(
  `\\b(?:${KEY_BEGINNINGS}|(?:sk|pk|rk|ghp|gho|key|pat)[-_])[\\w-]{6,}|\\bBearer\\s+\\S+|\\beyJ[\\w-]{8,}`,
  "i",
);

/** Whether a text seems to contain a key. */
export function holdsSecret(text: string): boolean {
  return SECRET_SHAPE.test(text);
}

/** A value as a message shows it. */
export function show(value: unknown, secret = false): string {
  if (secret) return "***";
  if (typeof value === "string") {
    if (holdsSecret(value)) return "***";
    // User name and password of a URL, even if its scheme is missing.
    const masked = value.replace(/[^/\s]*:[^/\s]*@/, "***@");
    return JSON.stringify(masked.length > SHOWN_CHARS_MAX ? `${masked.slice(0, SHOWN_CHARS_MAX)}…` : masked);
  }
  return typeof value === "object" && value !== null ? kindOfValue(value) : String(value);
}

/** The type of a value, in terms of the configuration file. */
export function kindOfValue(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value === null || value === undefined) return "nothing";
  if (typeof value === "object") return "a group of keys";
  return typeof value === "string" ? "text" : typeof value === "number" ? "a number" : "true or false";
}

/** The candidate that was probably meant; undefined if none is similar. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), least);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/** Changes (insert, delete, replace, swap of neighbours) from one word to the other, or `limit` when there are as many. */
function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[to.length] ?? limit;
}
