// Path patterns: `*` within a segment, `**` across, `?` one character; anchored at both ends. Matched against the path, or
// against the whole address when the pattern has a scheme. A pattern without a leading slash gets one. Matching takes time
// in proportion to pattern times address whatever both are: they come from strangers.

/** More than this in one pattern is no pattern. */
const CHARS_MAX = 500;
/** Each looks at every letter of an address once. */
const WILDCARDS_MAX = 30;

/** A test for addresses; undefined when the pattern cannot be used. */
export function compileGlob(pattern: string): ((address: string) => boolean) | undefined {
  const text = pattern.trim();
  if (text === "" || text.length > CHARS_MAX) return undefined;
  const isWhole = text.includes("://");
  const parts = split(isWhole || text.startsWith("/") ? text : `/${text}`);
  if (parts.filter(({ kind }) => kind !== "text").length > WILDCARDS_MAX) return undefined;
  if (isWhole) return (address) => matches(parts, address);
  return (address) => {
    const { pathname } = new URL(address);
    const plain = decoded(pathname);
    return matches(parts, pathname) || (plain !== pathname && matches(parts, plain));
  };
}

/** `**` together with the slashes around it is `/` or any number of whole segments. */
type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "segment" | "any" | "one" | "segments" };

const WILDCARDS: Readonly<Record<string, Part>> = {
  "*": { kind: "segment" },
  "**": { kind: "any" },
  "?": { kind: "one" },
  "/**/": { kind: "segments" },
};

function split(glob: string): Part[] {
  return glob
    .replace(/\*{3,}/g, "**")
    .split(/(\/\*\*\/|\*\*|\*|\?)/)
    .filter((text) => text !== "")
    .map((text) => (Object.hasOwn(WILDCARDS, text) ? (WILDCARDS[text] as Part) : { kind: "text", text }));
}

/** Follows all places at once that the parts so far can end at. */
function matches(parts: readonly Part[], text: string): boolean {
  let places = new Uint8Array(text.length + 1);
  places[0] = 1;
  for (const part of parts) {
    const next = new Uint8Array(text.length + 1);
    for (let place = places.indexOf(1); place >= 0; place = places.indexOf(1, place + 1))
      advance(part, { text, place, next });
    if (!next.includes(1)) return false;
    places = next;
  }
  return places[text.length] === 1;
}

/** Adds to `next` where the part can end that begins at `place`. */
function advance(part: Part, { text, place, next }: { text: string; place: number; next: Uint8Array }): void {
  if (part.kind === "text") {
    if (text.startsWith(part.text, place)) next[place + part.text.length] = 1;
    return;
  }
  if (part.kind === "one") {
    if (place < text.length && text[place] !== "/") next[place + 1] = 1;
    return;
  }
  if (part.kind === "segments") {
    if (text[place] !== "/") return;
    for (let at = text.indexOf("/", place); at >= 0 && next[at + 1] === 0; at = text.indexOf("/", at + 1))
      next[at + 1] = 1;
    return;
  }
  // Once a place is known, whoever made it known has gone on from there: each place is reached once.
  for (let at = place; at <= text.length && next[at] === 0; at++) {
    next[at] = 1;
    if (part.kind === "segment" && text[at] === "/") return;
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
