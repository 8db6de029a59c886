// Selects the links of a page that may help to answer: those whose address or text contains words of the prompt. Pure.

/** The matching links, the best first. Those in `known` are left out. */
export function rankedLinks(
  page: { readonly links: readonly string[]; readonly markdown: string; readonly url: string },
  prompt: string,
  { max, known }: { max: number; known: (url: string) => boolean },
): string[] {
  const wanted = new Set(stemsOf(prompt));
  if (wanted.size === 0) return [];
  const texts = textsOf(page.markdown);
  return page.links
    .filter((url) => URL.canParse(url) && !FILE.test(new URL(url).pathname) && !known(url))
    .map((url, at) => ({ url, at, points: pointsOf(url, texts.get(url) ?? "", wanted) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points || a.at - b.at)
    .slice(0, max)
    .map(({ url }) => url);
}

/** File names in addresses that are no pages. */
const FILE = /\.(?:png|jpe?g|gif|webp|svg|ico|css|js|mjs|woff2?|ttf|mp[34]|webm|avi|mov|zip|gz|tar|exe|dmg|iso)$/i;

/** Stop words. */
const COMMON = new Set(
  "about all also and any are but can each every extract find for from get give has have how its list many much name not off one page pages per please product site tell that the their them there these they this those url use value was web what when where which who will with you your".split(
    " ",
  ),
);

/** A word in the text of a link counts more than one in its address. */
const TEXT_POINTS = 2;

function pointsOf(url: string, text: string, wanted: ReadonlySet<string>): number {
  const { pathname, search } = new URL(url);
  const count = (words: string) => new Set(stemsOf(words).filter((stem) => wanted.has(stem))).size;
  return count(text) * TEXT_POINTS + count(plain(pathname + search));
}

function plain(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

/**
 * The words of a text without plural endings, so that `price` and `prices`, `box` and `boxes`, `company` and `companies` are
 * equal.
 */
function stemsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words
    .filter((word) => word.length > 2 && !COMMON.has(word))
    .map((word) => (word.length > 3 ? word.replace(/s$/, "").replace(/e$/, "").replace(/y$/, "i") : word));
}

/** The texts of the links in a Markdown text, by address. */
function textsOf(markdown: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [, text = "", url = ""] of markdown.matchAll(/\[([^[\]\n]{1,300})\]\(<?([^()<>\s]{1,2000})>?/g))
    texts.set(url, `${texts.get(url) ?? ""} ${text}`);
  return texts;
}
