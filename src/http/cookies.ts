// Parses the cookies of a request. If a browser sends several of one name, the first counts.

/** More than any of our pages sets, and few enough to parse quickly. */
const COOKIES_READ_MAX = 50;

/** Name → value, as sent. */
export function cookiesOf(request: Request): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const pair of (request.headers.get("cookie") ?? "").split(";", COOKIES_READ_MAX)) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    if (at > 0 && !found.has(name)) found.set(name, pair.slice(at + 1).trim());
  }
  return found;
}
