// The pages of a crawl as Markdown files: their names and contents.

import { sha256Hex } from "../base/ids.ts";
import { percentDecoded } from "../base/percent.ts";

/** Longer file names are cut and made unique by a hash. File systems allow 255 bytes, and a letter may take three. */
const NAME_CHARS_MAX = 80;

/** Creates a function that names files by the addresses of their pages. Names are unique and cannot leave their folder. */
export function createPageNames(): (url: string) => string {
  const names = new Set<string>();
  return (url) => {
    let name = fileName(url);
    // Names are compared in lower case, since some file systems ignore case.
    if (names.has(name.toLowerCase())) name = `${name.slice(0, -3)}-${sha256Hex(url).slice(0, 8)}.md`;
    names.add(name.toLowerCase());
    return name;
  };
}

/** The content of a page's file. */
export function markdownOf({ url, body }: { url: string; body: Readonly<Record<string, unknown>> }): string {
  return `<!-- ${url} -->\n\n${body["markdown"]}\n`;
}

function fileName(address: string): string {
  const url = new URL(address);
  const plain = percentDecoded(`${url.pathname}${url.search}`)
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
  const name = plain === "" ? "index" : plain;
  return name.length <= NAME_CHARS_MAX
    ? `${name}.md`
    : `${name.slice(0, NAME_CHARS_MAX - 9)}-${sha256Hex(address).slice(0, 8)}.md`;
}
