// Parses the cookies of a request. If a browser sends several with the same name, the first one counts.

/** Maximum number of cookies that are read: more than any page of the gateway sets, and few enough to parse quickly. */
const COOKIES_READ_MAX = 50;

/** The values of the cookies as they were sent, by name. */
export function cookiesOf(request: Request): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const pair of (request.headers.get("cookie") ?? "").split(";", COOKIES_READ_MAX)) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    if (at > 0 && !found.has(name)) found.set(name, pair.slice(at + 1).trim());
  }
  return found;
}
