// Writes a tree as HTML, with the attributes that a reader needs and without anything that runs.

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

/** The HTML of an element's children, without empty lines outside of code listings. */
export function serialize(root: PageElement): string {
  const out: Output = { whole: [], open: [], inListing: false };
  for (let child = root.firstChild; child !== null; child = child.nextSibling) write(child, out);
  close(out);
  return out.whole.join("").trim();
}

interface Output {
  /** The finished sections. */
  readonly whole: string[];
  /** The pieces of the current section, which is a listing or the text between two listings. */
  open: string[];
  inListing: boolean;
}

/** Finishes the current section. */
function close(out: Output): void {
  const text = out.open.join("");
  out.whole.push(out.inListing ? text : text.replace(/[ \t\r\n\f]+/g, withoutEmptyLines));
  out.open = [];
}

function withoutEmptyLines(blank: string): string {
  return blank.indexOf("\n") === blank.lastIndexOf("\n") ? blank : "\n";
}

function write(node: PageNode, out: Output): void {
  if (node instanceof PageText) {
    out.open.push(escapeText(node.data));
    return;
  }
  const element = node as PageElement;
  const isListing = element.tag === "pre" && !out.inListing;
  if (isListing) {
    close(out);
    out.inListing = true;
  }
  writeElement(element, out);
  if (isListing) {
    close(out);
    out.inListing = false;
  }
}

function writeElement(element: PageElement, out: Output): void {
  const children = () => {
    for (let child = element.firstChild; child !== null; child = child.nextSibling) write(child, out);
  };
  if (!/^[a-z][\w-]*$/.test(element.tag)) {
    children();
    return;
  }
  out.open.push(`<${element.tag}`);
  for (const name in element.attributes)
    if (KEPT_ATTRIBUTES.has(name)) out.open.push(` ${name}="${escapeAttribute(element.attributes[name] ?? "")}"`);
  out.open.push(">");
  if (VOID_TAGS.has(element.tag)) return;
  children();
  out.open.push(`</${element.tag}>`);
}

function escapeText(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function escapeAttribute(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
}
