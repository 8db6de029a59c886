// The pages of a crawl as Markdown files: what each is called and what is in it.

import { sha256Hex } from "../base/ids.ts";
import { percentDecoded } from "../base/percent.ts";

/** Longer file names are cut and told apart by a hash: file systems take 255 bytes, and a letter may be three. */
const NAME_CHARS_MAX = 80;

/** Names files by the addresses of their pages; no two alike, and none that leads out of a folder. */
export function createPageNames(): (url: string) => string {
  const names = new Set<string>();
  return (url) => {
    let name = fileName(url);
    // Lower case: file systems may not tell /A from /a.
    if (names.has(name.toLowerCase())) name = `${name.slice(0, -3)}-${sha256Hex(url).slice(0, 8)}.md`;
    names.add(name.toLowerCase());
    return name;
  };
}

/** The text of a page's file. */
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
