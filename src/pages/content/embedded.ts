// Reads the text of application pages that were sent without markup: many carry their content as data for the script that would
// render it. This is used only if the page itself is an empty shell.

import { PageElement, PageText, walk } from "../dom/node.ts";
import { type PageDocument, parsePage } from "../dom/parse.ts";
import { embeddedJson, preloadedThread } from "./preloaded-posts.ts";
import { spacedTags } from "./spaced-tags.ts";

/** Shorter strings are taken for labels and settings. */
const PROSE_CHARS_MIN = 80;
const STRINGS_MAX = 500;
const CHARS_MAX = 1024 * 1024;
const DEPTH_MAX = 40;

/** Adds the posts or the prose found in embedded data to the body. Returns whether there was any. */
export function fillFromState(document: PageDocument): boolean {
  const found = new Set<string>();
  const budget = { chars: CHARS_MAX };
  const values = [...document.states, ...attributeStates(document), ...document.structured].map(embeddedJson);
  const thread = preloadedThread(values);
  if (thread !== undefined) {
    document.body.appendChild(thread);
    return true;
  }
  for (const value of values) if (value !== undefined) collect(value, { found, budget, depth: 0 });
  if (found.size === 0) return false;
  const article = new PageElement("article");
  for (const text of found) {
    const part = new PageElement("section");
    if (holdsTag(text)) for (const child of parsePage(text).body.childNodes) part.appendChild(child);
    else
      for (const line of text.split(/\n{2,}/)) part.appendChild(new PageElement("p")).appendChild(new PageText(line));
    article.appendChild(part);
  }
  document.body.appendChild(article);
  return true;
}

/** Embedded data in attributes. */
function attributeStates(document: PageDocument): string[] {
  const states: string[] = [];
  for (const node of walk(document.body))
    if (node instanceof PageElement)
      for (const name in node.attributes) {
        const value = node.attributes[name] ?? "";
        if (name.startsWith("data-") && value.length > 500 && /^\s*[{[]/.test(value)) states.push(value);
      }
  return states;
}

interface Search {
  readonly found: Set<string>;
  readonly budget: { chars: number };
  readonly depth: number;
}

function collect(value: unknown, search: Search): void {
  const { found, budget, depth } = search;
  if (depth > DEPTH_MAX || found.size >= STRINGS_MAX || budget.chars <= 0) return;
  const inner = { ...search, depth: depth + 1 };
  if (typeof value === "string") {
    const nested = /^\s*[{[]/.test(value) ? embeddedJson(value) : undefined;
    if (nested !== undefined) collect(nested, inner);
    else if (isProse(value)) {
      found.add(value);
      budget.chars -= value.length;
    }
  } else if (Array.isArray(value)) for (const item of value) collect(item, inner);
  else if (typeof value === "object" && value !== null) for (const item of Object.values(value)) collect(item, inner);
}

/** A word with the signs around it. What a part of it has taken is never given back, so that the time is linear. */
const WORD = /^(?=([\p{L}\p{N}"'“‘(]+))\1(?=([\p{L}\p{N}'’-]*))\2[.,;:!?"'”)]*$/u;

function holdsTag(text: string): boolean {
  const start = text.search(/<[a-z]/i);
  return start >= 0 && text.includes(">", start);
}

function isProse(text: string): boolean {
  if (text.length < PROSE_CHARS_MIN || /^(?:https?:|data:|\/|[\w-]+$)/.test(text.trim())) return false;
  const plain = spacedTags(text);
  const words = plain.split(/\s+/).filter((word) => WORD.test(word));
  return words.length >= 10 && words.length > plain.split(/\s+/).length * 0.6 && /[.!?。]/.test(plain);
}
