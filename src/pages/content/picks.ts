// The parts of a page that callers choose by selectors: parts to keep, parts to leave out, and values of attributes.

import { PageElement } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import { selectElements } from "../dom/select.ts";
import { absolute, baseOf, largestOf } from "./tidy.ts";

/** An attribute that the caller wants to read from the elements of a selector. */
export interface AttributeWish {
  readonly selector: string;
  readonly attribute: string;
}

/** The values of such an attribute. */
export interface AttributeValues extends AttributeWish {
  readonly values: readonly string[];
}

/** Maximum number of values of one selector; nobody reads more. */
const VALUES_MAX = 10_000;
/** Maximum number of characters of all values of a page. */
const VALUES_CHARS_MAX = 2 * 1024 * 1024;
const IMAGES_MAX = 10_000;

/** Keeps the parts that match one of the selectors, in the page's order, and nothing else. */
export function keepOnly(document: PageDocument, selectors: readonly string[]): void {
  const chosen = new Set(selectors.flatMap((selector) => selectElements(document.body, selector)));
  const order: PageElement[] = [];
  collect(document.body, chosen, order);
  for (const child of document.body.childNodes) child.remove();
  for (const element of order) document.body.appendChild(element);
}

/** Collects the outermost of the chosen elements in document order. */
function collect(element: PageElement, chosen: ReadonlySet<PageElement>, order: PageElement[]): void {
  for (let child = element.firstChild; child !== null; child = child.nextSibling) {
    if (!(child instanceof PageElement)) continue;
    if (chosen.has(child)) order.push(child);
    else collect(child, chosen, order);
  }
}

/** Removes the parts that match one of the selectors. */
export function leaveOut(document: PageDocument, selectors: readonly string[]): void {
  for (const selector of selectors) for (const element of selectElements(document.body, selector)) element.remove();
}

/** The values of attributes, as the page writes them. */
export function readAttributes(document: PageDocument, wishes: readonly AttributeWish[]): AttributeValues[] {
  let charsLeft = VALUES_CHARS_MAX;
  return wishes.map((wish) => {
    const values: string[] = [];
    for (const element of selectElements(document.body, wish.selector)) {
      const value = element.attributes[wish.attribute.toLowerCase()];
      if (value === undefined) continue;
      charsLeft -= value.length;
      if (charsLeft < 0 || values.length >= VALUES_MAX) break;
      values.push(value);
    }
    return { ...wish, values };
  });
}

/** The addresses of the page's images, each once. */
export function readImages(document: PageDocument, url: string): string[] {
  const base = baseOf(document, url);
  const found = new Set<string>();
  const add = (address: string | undefined) => {
    const whole = address === undefined ? undefined : absolute(address, base);
    if (whole !== undefined && /^https?:/.test(whole) && found.size < IMAGES_MAX) found.add(whole);
  };
  for (const element of [
    ...document.body.getElementsByTagName("img"),
    ...document.body.getElementsByTagName("source"),
  ]) {
    const { attributes } = element;
    if (element.tag === "img") {
      add(attributes["src"]);
      add(attributes["data-src"]);
    }
    add(largestOf(attributes["srcset"] ?? attributes["data-srcset"]));
  }
  return [...found];
}
