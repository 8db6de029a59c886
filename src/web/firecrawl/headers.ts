// Reads the request headers that a caller adds for a page. It refuses headers of the connection, headers that the gateway sets
// itself, and characters that would end a header.

import { type Body, invalid } from "../params.ts";

const HEADERS_MAX = 50;
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const VALUE_CHARS_MAX = 8192;
/** Maximum number of characters of all headers. */
const CHARS_MAX = 16_384;

/** Headers of the connection, and headers that the gateway sets itself. */
const OURS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "via",
]);

/** Reads `headers`. Names are converted to lower case. Throws 400. */
export function readHeaders(value: unknown, param = "headers"): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw invalid(param, `${param} must be an object of texts.`);
  const entries = Object.entries(value as Body);
  if (entries.length > HEADERS_MAX) throw invalid(param, `${param} may hold at most ${HEADERS_MAX} headers.`);
  const headers: Record<string, string> = {};
  let chars = 0;
  for (const [given, text] of entries) {
    const name = given.toLowerCase();
    const at = `${param}.${given.slice(0, 100)}`;
    if (!NAME.test(name)) throw invalid(at, `${at} is not a valid header name.`);
    if (OURS.has(name) || name.startsWith("sec-")) throw invalid(at, `${at} cannot be set.`);
    if (typeof text !== "string" || text.length > VALUE_CHARS_MAX || /[^\t\x20-\x7e\x80-\xff]/.test(text))
      throw invalid(at, `${at} must be a text of at most ${VALUE_CHARS_MAX} characters, on one line.`);
    chars += name.length + text.length;
    headers[name] = text.trim();
  }
  if (chars > CHARS_MAX) throw invalid(param, `${param} may have at most ${CHARS_MAX} characters in all.`);
  return headers;
}
