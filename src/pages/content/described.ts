// Adds what a page tells programs about its one subject, if its text does not say it: some shops, job boards and forums write the
// description for search engines and show it by a script. Nothing is added that stands on the page in other words or in part.

import { isRecord } from "../../base/json-object.ts";
import { lookUp } from "../../base/look-up.ts";
import { hasUnseenText, hidingOf } from "../dom/hidden.ts";
import { elementsOf, PageElement, PageText } from "../dom/node.ts";
import { type PageDocument, parsePage } from "../dom/parse.ts";
import { type Entity, newRoom } from "../structured/entity.ts";
import { readJsonLd } from "../structured/json-ld.ts";
import { type Block, cutBlocks } from "./blocks.ts";
import { isTitled } from "./expected-parts.ts";
import { sumChars } from "./judged.ts";
import { applyStyleRules, readStyleRules } from "./style-rules.ts";

/** The members with the text of an entity, by its type. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  Product: ["description"],
  ProductGroup: ["description"],
  JobPosting: ["description"],
  Event: ["description"],
  Recipe: ["recipeIngredient", "recipeInstructions"],
  DiscussionForumPosting: ["text"],
  Question: ["text"],
};
/** Without one of these words there is no such entity. */
const DESCRIBED = new RegExp(`"(?:${Object.keys(TEXTS).join("|")})"`);
const CHARS_MIN = 80;
/** The reader of structured data cuts longer texts. */
const CHARS_MAX = 4900;
/** A text for addresses, which a template has put into the data by mistake. */
const ENCODED = /%20[^\s%]+%20/;
/** A text of which a larger share of the runs of words stands on the page is not added. */
const SAID_SHARE_MAX = 0.2;
const RUN_WORDS = 3;
const MARKUP = /<[a-z][^<>]*>/i;
/** How much longer than the text the content of the page may be. */
const KEPT_SHARE_MAX = 3;

/** Adds the text after the headline of a page, of which certain blocks were kept. */
export function addDescription(document: PageDocument, blocks: readonly Block[], kept: ReadonlySet<Block>): void {
  // A page with more text of its own describes its subject itself.
  const charsMin = Math.max(CHARS_MIN, sumChars(kept) / KEPT_SHARE_MAX);
  if (charsMin > CHARS_MAX || !document.structured.some((source) => DESCRIBED.test(source))) return;
  const subject = describedSubject(document);
  const texts =
    subject === undefined
      ? []
      : textsOf(subject, readStyleRules(document.styles)).filter((lines) => charsOf(lines) >= charsMin);
  if (texts.length === 0) return;
  const said = runsOf(blocks.map(({ text }) => text).join("\n"));
  const headline = document.body.getElementsByTagName("h1")[0];
  const parent = headline?.parentNode ?? document.body;
  const after = headline === undefined ? null : headline.nextSibling;
  for (const lines of texts) {
    const runs = runsOf(lines.join("\n"));
    const known = [...runs].filter((run) => said.has(run)).length;
    if (runs.size === 0 || known > runs.size * SAID_SHARE_MAX) continue;
    for (const line of lines) parent.insertBefore(new PageElement("p"), after).appendChild(new PageText(line));
  }
}

function charsOf(lines: readonly string[]): number {
  return lines.reduce((sum, { length }) => sum + length, 0);
}

/** The only described entity whose name the title of the page says. */
export function describedSubject(document: PageDocument): Entity | undefined {
  const found = readJsonLd(document.structured, newRoom())
    .flatMap((entity) => [entity, entity["mainEntity"]])
    .filter(isRecord)
    .filter((entity) => typesOf(entity).length > 0);
  const names = new Set(found.map(nameOf));
  const [subject] = found;
  const name = subject === undefined ? "" : nameOf(subject);
  return names.size === 1 && name !== "" && isTitled(document, name) ? subject : undefined;
}

function nameOf(entity: Entity): string {
  const name = entity["name"] ?? entity["title"] ?? entity["headline"];
  return typeof name === "string" ? name : "";
}

function typesOf(entity: Entity): string[] {
  const types = entity["@type"];
  return (Array.isArray(types) ? types : [types]).filter(
    (type) => typeof type === "string" && Object.hasOwn(TEXTS, type),
  );
}

/** Hides what the style sheets of the page hide. */
type Hide = (body: PageElement) => void;

/** Each text of the entity as lines. */
function textsOf(entity: Entity, hide: Hide): string[][] {
  const members = new Set(typesOf(entity).flatMap((type) => lookUp(TEXTS, type) ?? []));
  return [...members].map((member) => linesOf(entity[member], hide)).filter((lines) => charsOf(lines) <= CHARS_MAX);
}

function linesOf(value: unknown, hide: Hide): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => linesOf(one, hide));
  if (isRecord(value)) return linesOf(value["text"] ?? value["itemListElement"], hide);
  if (typeof value !== "string" || value.length > CHARS_MAX || ENCODED.test(value)) return [];
  // Descriptions hold markup, sometimes as entities.
  const once = parsePage(value);
  const isMarkup = elementsOf(once.body).length === 0 && MARKUP.test(once.body.textContent);
  const shown = isMarkup ? parsePage(once.body.textContent) : once;
  // As the page would show it: what is hidden in it would be read by nobody either.
  applyStyleRules(shown);
  hide(shown.body);
  for (const element of elementsOf(shown.body))
    if (hidingOf(element) !== undefined || hasUnseenText(element)) element.remove();
  return cutBlocks(shown.body).map(({ text }) => text);
}

/** The runs of words of a text. */
function runsOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.slice(RUN_WORDS - 1).map((_, at) => words.slice(at, at + RUN_WORDS).join(" ")));
}
