// Tells whether a page, as it was sent, is an empty shell that needs a browser, or only redirects to another page.

import { nodesOf, type PageElement, PageText, walk } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";

/** A page with less text than this and enough script is a shell. */
const TEXT_CHARS_MIN = 200;
const SCRIPT_CHARS_MIN = 400;
/** A page with at least this much text can be read as it is. */
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

const LOCATION = "(?:(?:window|document|self|top|parent)\\s*\\.\\s*)*location";
const ONLOAD_CHARS_MAX = 4096;
/** Script code that navigates to another page or reloads this one. */
const MOVES = new RegExp(
  `(?:^|[^.\\w])${LOCATION}(?:(?:\\s*\\.\\s*href)?\\s*=(?!=)|\\s*\\.\\s*(?:replace|assign|reload)\\s*\\()`,
);
/** A script that does nothing but navigate to an address given as a literal. */
const ONLY_MOVES = new RegExp(
  `^(?:<!--[^\\n]*\\n)?\\s*(?:javascript:)?\\s*${LOCATION}(?:(?:\\s*\\.\\s*href)?\\s*=\\s*|\\s*\\.\\s*(?:replace|assign)\\s*\\(\\s*)(["'])([^"'\\\\\\n]+)\\1\\s*\\)?\\s*;?\\s*(?:(?://\\s*)?-->)?\\s*$`,
);

/**
 * The address to which a <meta refresh>, a `Refresh` header or a script leads within seconds; undefined if there is none, if the
 * page only reloads itself, or if it has much text.
 */
export function refreshTarget(document: PageDocument, url: string, header?: string | null): string | undefined {
  const chars = visibleChars(document.body);
  if (chars > TEXT_CHARS_MANY) return undefined;
  const refresh = document.head.find((element) => /^refresh$/i.test(element.attributes["http-equiv"] ?? ""));
  return (
    readRefresh(refresh?.attributes["content"], url) ??
    readRefresh(header, url) ??
    (chars < TEXT_CHARS_MIN ? scriptTarget(document, url) : undefined)
  );
}

/** Only scripts that navigate without a condition are followed; others need a browser. */
function scriptTarget(document: PageDocument, url: string): string | undefined {
  const moving = movesOf(document);
  const target = moving.length === 1 ? ONLY_MOVES.exec((moving[0] as string).trim())?.[2]?.trim() : undefined;
  return target === undefined ? undefined : otherAddress(target, url);
}

/** The scripts of a page that navigate to another page. */
function movesOf({ scripts, rootAttributes }: PageDocument): readonly string[] {
  const onload = rootAttributes["onload"];
  return [...scripts, ...(onload === undefined ? [] : [onload.slice(0, ONLOAD_CHARS_MAX)])].filter((script) =>
    MOVES.test(script),
  );
}

function readRefresh(value: string | null | undefined, url: string): string | undefined {
  const target = /^\s*[0-5](?:\.\d*)?\s*[;,]\s*url\s*=\s*["']?([^"']+)/i.exec(value ?? "")?.[1]?.trim();
  return target === undefined ? undefined : otherAddress(target, url);
}

/** The resolved target; undefined if it is not another web address. */
function otherAddress(target: string, url: string): string | undefined {
  if (!URL.canParse(target, url)) return undefined;
  const { href, protocol } = new URL(target, url);
  return /^https?:$/.test(protocol) && href.replace(/#.*/, "") !== url.replace(/#.*/, "") ? href : undefined;
}

/** The reason to render the page in a browser, in a few words; undefined if the page can be read as it is. */
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
  if (chars < TEXT_CHARS_MIN && movesOf(document).length > 0) return "script redirect";
  // The page has no text at all, so the script must provide it.
  if (chars === 0 && document.scriptChars > 0) return "no text, a script";
  return chars < TEXT_CHARS_MIN && document.scriptChars >= SCRIPT_CHARS_MIN ? "little text, much script" : undefined;
}

function* elements(root: PageElement): Generator<PageElement> {
  for (const node of walk(root)) if (!(node instanceof PageText)) yield node as PageElement;
}

/** The number of characters that the page shows without scripts. */
export function visibleChars(root: PageElement): number {
  let chars = 0;
  for (const node of nodesOf(root))
    if (
      node instanceof PageText &&
      node.parentNode?.tag !== "noscript" &&
      node.parentNode?.parentNode?.tag !== "noscript"
    )
      chars += node.data.trim().length;
  return chars;
}
