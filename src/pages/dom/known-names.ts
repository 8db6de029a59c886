// The most common names of tags and attributes. Most names of a page are among them, and to recognise one takes less time than to
// cut it out of the page, to lower its case and to look it up as the name of a property.

const NAMES = (
  "div a span li p img script link ul meta button input strong td i br h3 option h2 use source section em b h4 nav article picture " +
  "noscript form header time hr th pre footer iframe h5 h1 dd figcaption table details dt ol html body head template sup tr g path " +
  "svg symbol label style code figure cite title summary rect circle line blockquote aside main tbody thead small video select " +
  "class href id type rel src width alt height role d aria-hidden aria-label target name fill content value viewbox tabindex xmlns " +
  "loading srcset itemprop media property sizes decoding for fill-rule stroke data-id data-testid autocomplete aria-expanded " +
  "hreflang crossorigin dir clip-rule async itemscope itemtype data-src charset lang placeholder onclick data-srcset action method " +
  "datetime hidden data-href aria-labelledby aria-controls aria-haspopup aria-describedby border colspan data-type data-url"
).split(" ");

/** A power of two, so that most names have a place of their own. */
const PLACES = 512;

/** The names by their length and by their first and last sign. */
const BY_PLACE: string[][] = Array.from({ length: PLACES }, () => []);
for (const name of new Set(NAMES)) BY_PLACE[placeOf(name, 0, name.length)]?.push(name);

function placeOf(text: string, start: number, end: number): number {
  return (text.charCodeAt(start) * 31 + text.charCodeAt(end - 1) * 7 + end - start) & (PLACES - 1);
}

/** The name that stands here in the markup, if it is a common one in lower case. */
export function knownName(markup: string, start: number, end: number): string | undefined {
  for (const name of BY_PLACE[placeOf(markup, start, end)] as string[])
    if (name.length === end - start && markup.startsWith(name, start)) return name;
  return undefined;
}
