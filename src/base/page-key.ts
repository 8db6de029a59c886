// Decides when two URLs are the same page and when two pages belong to the same site.

/** Parameters that show where a visitor came from. They do not change the page. */
const TRACKING =
  /^(?:utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|li_fat_id|igshid|igsh|mc_[ce]id|_ga|_gl|_hs(?:enc|mi)|hsctatracking|mkt_tok|vero_id|oly_\w+|ref_src|ref_url|spm|scm|cmpid|icid|_openstat|yadclid|wickedid|s_cid|trk|trkcampaign)$/i;
const SESSION =
  /^(?:phpsessid|jsessionid|aspsessionid\w*|asp\.net_sessionid|cfid|cftoken|sessionid|session_id|sess_id|sid|zenid|oscsid)$/i;

/**
 * A key that is equal for all addresses of a page. Scheme, `www.`, fragment, trailing slash, order of parameters, and
 * tracking or session parameters make no difference.
 */
export function pageKey(address: string): string {
  const url = new URL(address);
  const parameters = [...url.searchParams].filter(([name]) => !TRACKING.test(name) && !SESSION.test(name));
  const query = parameters
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort()
    .join("&");
  // The URL is built anew, since what remains may be another spelling of a shorter path.
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

/** Removes unnecessary percent encoding, so that both spellings are equal. */
function plainPath(path: string): string {
  try {
    return encodeURI(decodeURI(path));
  } catch {
    return path;
  }
}
