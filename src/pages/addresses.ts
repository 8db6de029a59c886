// When two addresses are one page, and when two pages are one site.

/** Parameters that say how a reader came, not what is read. */
const TRACKING =
  /^(?:utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|li_fat_id|igshid|igsh|mc_[ce]id|_ga|_gl|_hs(?:enc|mi)|hsctatracking|mkt_tok|vero_id|oly_\w+|ref_src|ref_url|spm|scm|cmpid|icid|_openstat|yadclid|wickedid|s_cid|trk|trkcampaign)$/i;
const SESSION =
  /^(?:phpsessid|jsessionid|aspsessionid\w*|asp\.net_sessionid|cfid|cftoken|sessionid|session_id|sess_id|sid|zenid|oscsid)$/i;

/** Addresses beyond these bounds are traps more often than pages. */
export const ADDRESS_CHARS_MAX = 2000;
const SEGMENTS_MAX = 20;
const REPEATS_MAX = 3;

/**
 * The page behind an address: scheme, `www.`, fragment, trailing slash, order of parameters, tracking and session
 * parameters make no difference.
 */
export function pageKey(address: string): string {
  const url = new URL(address);
  const parameters = [...url.searchParams].filter(([name]) => !TRACKING.test(name) && !SESSION.test(name));
  const query = parameters
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort()
    .join("&");
  // Set, not just cut out: what is left may be another way to write a shorter path.
  if (/;jsessionid=/i.test(url.pathname)) url.pathname = url.pathname.replace(/;jsessionid=[^/]*/gi, "");
  const path = plainPath(url.pathname)
    .replace(/\/{2,}/g, "/")
    .replace(/\/+$/, "");
  return `${siteKey(address)}${path === "" ? "/" : path}${query === "" ? "" : `?${query}`}`;
}

/** The site of an address: its host without a leading `www.`, and its port. Subdomains are other sites. */
export function siteKey(address: string): string {
  const url = new URL(address);
  const host = url.hostname.replace(/^www\./, "").replace(/\.$/, "");
  return url.port === "" ? host : `${host}:${url.port}`;
}

/** Whether an address looks like one of endless many (calendars, filters, relative links gone wrong). */
export function isTrap(address: string): boolean {
  if (address.length > ADDRESS_CHARS_MAX) return true;
  const segments = new URL(address).pathname.split("/").filter((segment) => segment !== "");
  if (segments.length > SEGMENTS_MAX) return true;
  const counts = new Map<string, number>();
  for (const segment of segments) counts.set(segment, (counts.get(segment) ?? 0) + 1);
  return [...counts.values()].some((count) => count > REPEATS_MAX);
}

/** Files that are never pages, by their ending. */
const NO_PAGE =
  /\.(?:jpe?g|png|gif|webp|avif|svg|ico|bmp|tiff?|mp[34]|m4[av]|avi|mov|wmv|webm|ogg|wav|flac|zip|gz|tgz|bz2|xz|7z|rar|tar|exe|dmg|msi|deb|rpm|apk|iso|bin|css|m?js|map|woff2?|ttf|eot|otf|docx?|xlsx?|pptx?|odt|ods|epub|mobi)$/i;

/** Whether a crawl may expect a page there. */
export function mayBePage(address: string, { documents }: { documents: boolean }): boolean {
  const { pathname } = new URL(address);
  if (NO_PAGE.test(pathname)) return false;
  return documents || !/\.(?:pdf|json|xml|rss|atom|txt|csv)$/i.test(pathname);
}

/** Percent-encoding that was not needed taken back, so that both spellings are one. */
function plainPath(path: string): string {
  try {
    return encodeURI(decodeURI(path));
  } catch {
    return path;
  }
}
