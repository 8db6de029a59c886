// The hosts of the most common advertising networks. Nothing that comes from them is part of a page's content.

/** Domains; all of their subdomains are included. */
const DOMAINS: ReadonlySet<string> = new Set([
  "2mdn.net",
  "adform.net",
  "adnxs.com",
  "adroll.com",
  "ads-twitter.com",
  "adsafeprotected.com",
  "adsrvr.org",
  "advertising.com",
  "amazon-adsystem.com",
  "bidswitch.net",
  "casalemedia.com",
  "criteo.com",
  "criteo.net",
  "doubleclick.net",
  "googleadservices.com",
  "googlesyndication.com",
  "googletagservices.com",
  "media.net",
  "mgid.com",
  "moatads.com",
  "openx.net",
  "outbrain.com",
  "pubmatic.com",
  "rubiconproject.com",
  "scorecardresearch.com",
  "sharethrough.com",
  "smartadserver.com",
  "taboola.com",
  "teads.tv",
  "yieldmo.com",
  "zedo.com",
]);

/** Whether an address belongs to an advertising network. */
export function isAdvertising(address: string): boolean {
  const { hostname } = new URL(address);
  for (let host = hostname; host.includes("."); host = host.slice(host.indexOf(".") + 1))
    if (DOMAINS.has(host)) return true;
  return false;
}
