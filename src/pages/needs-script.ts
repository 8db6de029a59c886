// Whether a page, as sent, is an empty shell that a browser fills, or a redirect in disguise.

import { type PageElement, PageText, walk } from "./dom/node.ts";
import type { PageDocument } from "./dom/parse.ts";

/** A page with less text than this and a fair amount of script is a shell. */
const TEXT_CHARS_MIN = 200;
const SCRIPT_CHARS_MIN = 400;
/** A page with more text than this is there to be read. */
const TEXT_CHARS_MANY = TEXT_CHARS_MIN * 4;
const APP_ROOTS = new Set([
  "root",
  "app",
  "__next",
  "__nuxt",
  "___gatsby",
  "svelte",
  "q-app",
  "main-app",
  "react-root",
  "application",
]);
const APP_TAGS = /^(?:app-root|ion-app|discourse-assets)$/;

/** Where a <meta refresh>, or the header of that name, leads within seconds; undefined without one, when it only reloads, or when there is much to read. */
export function refreshTarget(document: PageDocument, url: string, header?: string | null): string | undefined {
  if (visibleChars(document.body) > TEXT_CHARS_MANY) return undefined;
  const refresh = document.head.find((element) => /^refresh$/i.test(element.attributes["http-equiv"] ?? ""));
  return readRefresh(refresh?.attributes["content"], url) ?? readRefresh(header, url);
}

/** Undefined when that is no other web address. */
function readRefresh(value: string | null | undefined, url: string): string | undefined {
  const target = /^\s*[0-5](?:\.\d*)?\s*[;,]\s*url\s*=\s*["']?([^"']+)/i.exec(value ?? "")?.[1]?.trim();
  if (target === undefined || !URL.canParse(target, url)) return undefined;
  const { href, protocol } = new URL(target, url);
  return /^https?:$/.test(protocol) && href.replace(/#.*/, "") !== url.replace(/#.*/, "") ? href : undefined;
}

/** The reason in a few words; undefined when the page can be read as it is. */
export function needsScript(document: PageDocument): string | undefined {
  const chars = visibleChars(document.body);
  if (chars >= TEXT_CHARS_MANY) return undefined;
  for (const element of elements(document.body)) {
    if (
      element.tag === "noscript" &&
      chars < TEXT_CHARS_MIN * 2 &&
      /javascript|enable|script/i.test(element.textContent)
    )
      return "noscript";
    const isRoot = APP_ROOTS.has(element.id) || APP_TAGS.test(element.tag);
    if (isRoot && visibleChars(element) < TEXT_CHARS_MIN) return "empty application root";
  }
  return chars < TEXT_CHARS_MIN && document.scriptChars >= SCRIPT_CHARS_MIN ? "little text, much script" : undefined;
}

function* elements(root: PageElement): Generator<PageElement> {
  for (const node of walk(root)) if (!(node instanceof PageText)) yield node as PageElement;
}

/** How much text a reader without scripts would see. */
export function visibleChars(root: PageElement): number {
  let chars = 0;
  for (const node of walk(root))
    if (
      node instanceof PageText &&
      node.parentNode?.tag !== "noscript" &&
      node.parentNode?.parentNode?.tag !== "noscript"
    )
      chars += node.data.trim().length;
  return chars;
}
