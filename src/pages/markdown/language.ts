// Finds the programming language of a code listing, if the markup names it. Each highlighter has a convention of its own.

import { lookUp } from "../../base/look-up.ts";
import { PageElement, type PageNode } from "../dom/node.ts";

/** Class names of highlighters that consist of a prefix and the language. */
const NAMED =
  /(?:^|\s)(?:(?:language|lang|highlight-source|highlight-text|highlight|mw-highlight-lang|code-lang|src|code|hljs|prettyprint|sp|syntax)[-:](?:lang-)?|(?:brush|sourcecode)[:\s]\s*)([a-z0-9+#.-]+)/gi;
/** Languages that are recognised when the class name has no prefix. */
const LANGUAGES = new Set(
  (
    "bash c clojure cmake console cpp c++ csharp c# css dart diff dockerfile elixir elm erlang fsharp go graphql groovy haskell hcl html http ini " +
    "java javascript js json jsx julia kotlin latex less lua makefile markdown matlab mermaid nginx nim objectivec ocaml perl php powershell protobuf " +
    "python py r ruby rust sass scala scss sh shell sql swift terraform toml ts tsx typescript vb vue xml yaml yml zig"
  ).split(" "),
);
/** Words that occur in place of a language but are none. */
const NO_LANGUAGE = new Set(
  (
    "none text plaintext plain nohighlight no-highlight hljs wrap block copyable toolbar container snippet default auto txt output undefined null " +
    "notranslate inner wrapper content example header title box group editor pristine cm pre-placeholder line lines toggle inline area view panel override"
  ).split(" "),
);
/** Other names of languages, and rare variants. */
const ALIASES: Readonly<Record<string, string>> = {
  python3: "python",
  ipython3: "python",
  ipython: "python",
  py3: "python",
  "html+jinja": "html",
};
/** How many levels above the listing are searched for the name of its language. */
const LEVELS_MAX = 4;
/** Where more elements are beside a listing, the listings are counted once for all that stand among them. */
const BESIDE_MAX = 2000;

/** The language that the element or one near it names; "" if there is none. */
export function languageAround(element: PageElement): string {
  const inner = element.getElementsByTagName("code")[0];
  const own = (inner === undefined ? undefined : languageOf(inner)) ?? languageOf(element);
  if (own !== undefined) return own;
  let around = element.parentNode;
  for (let level = 0; level < LEVELS_MAX && around !== null; level++, around = around.parentNode) {
    // Further up, an element with several listings does not name the language of any of them.
    if (level > 1 && !hasOneListing(around, element)) break;
    const named = languageOf(around);
    if (named !== undefined) return named;
  }
  return "";
}

/** Whether there is one listing in an element, be it this element of its own, or one in it or beside it. */
function hasOneListing(around: PageElement, element: PageElement): boolean {
  const known = listingCounts.get(around);
  if (known !== undefined) return known === 1;
  let count = element.getElementsByTagName("pre").length + (element.tag === "pre" ? 1 : 0);
  let beside = 0;
  let node: PageNode | null = around.firstChild;
  while (node !== null && count < 2) {
    if (node instanceof PageElement && node !== element) {
      if (++beside > BESIDE_MAX) return listingsIn(around) === 1;
      if (node.tag === "pre") count++;
      if (node.firstChild !== null) {
        node = node.firstChild;
        continue;
      }
    }
    let at: PageNode | null = node;
    while (at !== null && at.nextSibling === null) at = at.parentNode === around ? null : at.parentNode;
    node = at === null ? null : at.nextSibling;
  }
  return count === 1;
}

const listingCounts = new WeakMap<PageElement, number>();

/** The number of listings below an element, counted once for each element. The tree's depth is bounded. */
function listingsIn(element: PageElement): number {
  let count = listingCounts.get(element);
  if (count !== undefined) return count;
  count = 0;
  for (let node = element.firstChild; node !== null; node = node.nextSibling)
    if (node instanceof PageElement) count += listingsIn(node) + (node.tag === "pre" ? 1 : 0);
  listingCounts.set(element, count);
  return count;
}

function languageOf({ attributes, className, tag }: PageElement): string | undefined {
  const said = attributes["data-lang"] ?? attributes["data-language"] ?? attributes["syntax"];
  if (said !== undefined) return accepted(said);
  for (const match of className.matchAll(NAMED)) {
    const name = accepted(match[1] ?? "");
    if (name !== undefined) return name;
  }
  if (tag !== "pre" && tag !== "code") return undefined;
  // GitHub names the language of a fence so. Short names are mostly those of the languages that people speak.
  const { lang = "" } = attributes;
  if (LANGUAGES.has(lang.toLowerCase()) || /^[a-z]{4,}$/i.test(lang)) return accepted(lang);
  return className
    .toLowerCase()
    .split(/\s+/)
    .find((name) => LANGUAGES.has(name));
}

function accepted(name: string): string | undefined {
  const folded = name.toLowerCase();
  if (!/^[\w+#.-]{1,24}$/.test(name) && lookUp(ALIASES, folded) === undefined) return undefined;
  return NO_LANGUAGE.has(folded) ? undefined : (lookUp(ALIASES, folded) ?? folded);
}
