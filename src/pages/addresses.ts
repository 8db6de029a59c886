// Recognises addresses that do not lead to pages, or that are not worth fetching.

/** An address that exceeds one of these bounds is more often a crawler trap than a page. */
export const ADDRESS_CHARS_MAX = 2000;
const SEGMENTS_MAX = 20;
const REPEATS_MAX = 3;

/** Whether an address looks like one of an endless series (calendars, filters, broken relative links). */
export function isTrap(address: string): boolean {
  if (address.length > ADDRESS_CHARS_MAX) return true;
  const segments = new URL(address).pathname.split("/").filter((segment) => segment !== "");
  if (segments.length > SEGMENTS_MAX) return true;
  const counts = new Map<string, number>();
  for (const segment of segments) counts.set(segment, (counts.get(segment) ?? 0) + 1);
  return [...counts.values()].some((count) => count > REPEATS_MAX);
}

/** File extensions that are never pages. */
const NO_PAGE =
  /\.(?:jpe?g|png|gif|webp|avif|svg|ico|bmp|tiff?|mp[34]|m4[av]|avi|mov|wmv|webm|ogg|wav|flac|zip|gz|tgz|bz2|xz|7z|rar|tar|exe|dmg|msi|deb|rpm|apk|iso|bin|css|m?js|map|woff2?|ttf|eot|otf|docx?|xlsx?|pptx?|odt|ods|epub|mobi)$/i;

/** Whether a crawl can expect a page at this address. */
export function mayBePage(address: string, { documents }: { documents: boolean }): boolean {
  const { pathname } = new URL(address);
  if (NO_PAGE.test(pathname)) return false;
  return documents || !/\.(?:pdf|json|xml|rss|atom|txt|csv)$/i.test(pathname);
}
