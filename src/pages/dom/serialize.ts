// A tree → HTML text, with the attributes a reader needs and nothing that runs.

import { type PageElement, type PageNode, PageText } from "./node.ts";

const KEPT_ATTRIBUTES = new Set([
  "href",
  "src",
  "alt",
  "title",
  "lang",
  "dir",
  "colspan",
  "rowspan",
  "scope",
  "align",
  "start",
  "datetime",
  "cite",
  "id",
  "class",
]);
const VOID_TAGS = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));

/** The HTML of an element's children. */
export function serialize(root: PageElement): string {
  const out: string[] = [];
  for (let child = root.firstChild; child !== null; child = child.nextSibling) write(child, out);
  return out
    .join("")
    .replace(/[ \t]*\n\s*\n\s*/g, "\n")
    .trim();
}

function write(node: PageNode, out: string[]): void {
  if (node instanceof PageText) {
    out.push(escapeText(node.data));
    return;
  }
  const element = node as PageElement;
  if (!/^[a-z][\w-]*$/.test(element.tag)) {
    for (let child = element.firstChild; child !== null; child = child.nextSibling) write(child, out);
    return;
  }
  out.push(`<${element.tag}`);
  for (const name in element.attributes)
    if (KEPT_ATTRIBUTES.has(name)) out.push(` ${name}="${escapeAttribute(element.attributes[name] ?? "")}"`);
  out.push(">");
  if (VOID_TAGS.has(element.tag)) return;
  for (let child = element.firstChild; child !== null; child = child.nextSibling) write(child, out);
  out.push(`</${element.tag}>`);
}

function escapeText(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function escapeAttribute(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
}
