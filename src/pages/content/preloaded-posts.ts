// Reads the posts of a thread that a forum sends as data, for the script that would show them: title, authors, dates and all posts in
// order, also the short ones. Nothing else of the data is content.

import { isRecord } from "../../base/json-object.ts";
import { PageElement, PageText } from "../dom/node.ts";
import { parsePage } from "../dom/parse.ts";

const POSTS_MAX = 500;
const CHARS_MAX = 1024 * 1024;
const NAME_CHARS_MAX = 80;
/** How many values of the data are searched for a thread, and how deep. */
const VALUES_MAX = 20_000;
const DEPTH_MAX = 8;
/** The class of what a post quotes. */
const QUOTE = /(?:^|\s)quote(?:\s|$)/;
/** Values that hold data as text. */
const JSON_START = /^\s*[{[]/;

/** A thread, as Discourse sends it. */
interface Thread {
  readonly title: string;
  readonly posts: readonly Readonly<Record<string, unknown>>[];
}

/** The first thread of these values, as markup; undefined if they have none. */
export function preloadedThread(values: readonly unknown[]): PageElement | undefined {
  const search = { valuesLeft: VALUES_MAX };
  for (const value of values) {
    const thread = threadIn(value, search, 0);
    if (thread !== undefined) return markupOf(thread);
  }
  return undefined;
}

function threadIn(value: unknown, search: { valuesLeft: number }, depth: number): Thread | undefined {
  if (depth > DEPTH_MAX || search.valuesLeft-- <= 0) return undefined;
  if (typeof value === "string") {
    // Only a text with posts is worth reading as data.
    if (!JSON_START.test(value) || !value.includes("post_stream")) return undefined;
    return threadIn(embeddedJson(value), search, depth + 1);
  }
  if (Array.isArray(value)) return firstThread(value, search, depth);
  if (!isRecord(value)) return undefined;
  const stream = value["post_stream"];
  const posts = isRecord(stream) && Array.isArray(stream["posts"]) ? stream["posts"].filter(isPost) : [];
  if (posts.length > 0) return { title: textAt(value, "title"), posts };
  return firstThread(Object.values(value), search, depth);
}

function firstThread(values: readonly unknown[], search: { valuesLeft: number }, depth: number): Thread | undefined {
  for (const value of values) {
    const found = threadIn(value, search, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isPost(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && textAt(value, "cooked") !== "";
}

function markupOf({ title, posts }: Thread): PageElement {
  const main = new PageElement("main");
  if (title !== "") withText(main, "h1", title);
  let charsLeft = CHARS_MAX;
  for (const post of posts.slice(0, POSTS_MAX)) {
    const text = textAt(post, "cooked");
    charsLeft -= text.length;
    if (charsLeft < 0) break;
    const article = main.appendChild(new PageElement("article", { class: "topic-post post" }));
    const author = textAt(post, "username").slice(0, NAME_CHARS_MAX);
    if (author !== "") withText(article, "div", author).attributes["class"] = "username author";
    const date = /^\d{4}-\d\d-\d\d/.exec(textAt(post, "created_at"))?.[0];
    if (date !== undefined) withText(article.appendChild(new PageElement("div", { class: "post-date" })), "time", date);
    const body = article.appendChild(new PageElement("div", { class: "cooked post-body" }));
    for (const child of parsePage(text).body.childNodes) body.appendChild(child);
    for (const aside of body.getElementsByTagName("aside")) if (QUOTE.test(aside.className)) rewriteQuote(aside);
  }
  return main;
}

/** Makes a quotation part of its post: it comes as an aside, which is no content elsewhere. Its title says who is quoted. */
function rewriteQuote(aside: PageElement): void {
  const quote = new PageElement("div", { class: "quote" });
  for (const child of aside.childNodes) {
    if (child instanceof PageElement && child.className === "title") child.attributes["class"] = "quote-title";
    quote.appendChild(child);
  }
  aside.parentNode?.insertBefore(quote, aside);
  aside.remove();
}

function withText(parent: PageElement, tag: string, text: string): PageElement {
  const element = parent.appendChild(new PageElement(tag));
  element.appendChild(new PageText(text));
  return element;
}

function textAt(record: Readonly<Record<string, unknown>>, key: string): string {
  const value = record[key];
  return typeof value === "string" ? value : "";
}

/** The value that a text states as JSON; undefined if it states none. */
export function embeddedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
