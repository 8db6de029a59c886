// The id of a model at the end of an address.

import { modelNotFound } from "./resolve.ts";

/** No model has a longer id. A longer one is not decoded. */
const ID_CHARS_MAX = 1024;

/** Read from the raw URL: routers differ in what they decode, and an id may contain an encoded slash or percent sign. */
export function idFromUrl(url: string, root: string): string {
  const from = url.indexOf(root) + root.length;
  const ends = [url.indexOf("?", from), url.indexOf("#", from)].filter((at) => at >= 0);
  const raw = url.slice(from, Math.min(url.length, ...ends));
  if (raw.length > ID_CHARS_MAX) throw modelNotFound(raw);
  try {
    return decodeURIComponent(raw);
  } catch {
    // Not percent-encoded: the literal text may be an id.
    return raw;
  }
}
