// Parses HTML into a light document tree. Never throws on markup: repeated <body> elements, text before the body, broken nesting,
// and depth or size beyond the limits all result in a tree. Scripts, styles and comments are left out; structured data is
// returned separately.

import { PageElement, PageText } from "./node.ts";
import { createParser, type TagBuilder } from "./page-parser.ts";

/** A parsed page. */
export interface PageDocument {
  /** The elements that are not metadata. */
  readonly body: PageElement;
  /** All <meta>, <link>, <base> and <title> elements, in order, wherever they are. */
  readonly head: readonly PageElement[];
  /** Those metadata elements that are microdata, each with the element that contains it. */
  readonly places: ReadonlyMap<PageElement, PageElement>;
  readonly title: string;
  /** The attribute `lang` of <html>. */
  readonly language: string;
  /** Contents of application/ld+json scripts, which hold structured data. */
  readonly structured: readonly string[];
  /** Contents of application/json scripts, which hold the initial state of an application page. */
  readonly states: readonly string[];
  /** The style sheets that the page contains, for screens. */
  readonly styles: readonly string[];
  /** Attributes of <html> and <body>, merged into one record. */
  readonly rootAttributes: Readonly<Record<string, string>>;
  /** The number of characters in scripts. A page that consists of scripts has no content yet. */
  readonly scriptChars: number;
  /** Whether the page has more nodes than are read, so that its end is missing. */
  readonly isCut: boolean;
  /** The first inline scripts; short ones are complete, as some only redirect. */
  readonly scripts: readonly string[];
}

/** Elements at a greater depth become siblings at this depth. Real pages stay below 100. */
export const TREE_DEPTH_MAX = 200;
/** The maximum number of nodes. The largest real pages have about 100,000. */
const NODES_MAX = 250_000;
const STRUCTURED_CHARS_MAX = 2 * 1024 * 1024;
const SCRIPTS_MAX = 20;
const SCRIPT_CHARS_MAX = 4096;
const STYLES_MAX = 50;
const STYLE_CHARS_MAX = 256 * 1024;
const ATTRIBUTE_CHARS_MAX = 64 * 1024;

const HEAD_TAGS = new Set(["meta", "link", "base"]);
const ROOT_TAGS = new Set(["html", "head", "body"]);
/** Elements whose text is not part of the page's text. */
const DROPPED_TAGS = new Set(["script", "style", "applet", "object", "embed", "noembed", "noframes"]);
const VOID_TAGS = new Set(
  "area base br col embed hr img input link meta param source track wbr basefont bgsound frame keygen".split(" "),
);

/** Parses a page. */
export function parsePage(html: string): PageDocument {
  const builder = new Builder();
  // In HTML, a CDATA mark begins a malformed comment that ends at the next ">". The parser would instead search for "]]>",
  // possibly to the end of the page.
  const markup = closeFrames(html.includes("<![CDATA[") ? html.replaceAll("<![CDATA[", "") : html);
  const parser = createParser(markup, builder);
  builder.full = () => parser.pause();
  parser.write(markup);
  if (!builder.isFull) parser.end();
  return builder.finish();
}

/** The end of a frame's start tag that is followed by the end of its <noscript>. */
const UNCLOSED_FRAME = /<iframe\b[^<>]*>(?=\s*<\/noscript)/iy;

/**
 * Closes a frame at the end of its <noscript>. For a browser that runs scripts, the text of <noscript> ends there in any case; the
 * parser would take the rest of the page for the text of the frame.
 */
function closeFrames(html: string): string {
  let closed = "";
  let copied = 0;
  let small = html.indexOf("<i");
  let capital = html.indexOf("<I");
  while (small >= 0 || capital >= 0) {
    const isSmall = small >= 0 && (capital < 0 || small < capital);
    UNCLOSED_FRAME.lastIndex = isSmall ? small : capital;
    if (UNCLOSED_FRAME.test(html)) {
      closed += `${html.slice(copied, UNCLOSED_FRAME.lastIndex)}</iframe>`;
      copied = UNCLOSED_FRAME.lastIndex;
    }
    if (isSmall) small = html.indexOf("<i", small + 1);
    else capital = html.indexOf("<I", capital + 1);
  }
  return copied === 0 ? html : closed + html.slice(copied);
}

class Builder implements TagBuilder {
  readonly #body = new PageElement("body");
  readonly #head: PageElement[] = [];
  readonly #places = new Map<PageElement, PageElement>();
  readonly #structured: string[] = [];
  readonly #states: string[] = [];
  readonly #scripts: string[] = [];
  readonly #styles: string[] = [];
  #styleChars = 0;
  readonly #rootAttributes: Record<string, string> = {};
  /** The open elements. Undefined stands for a tag that created no element: roots, dropped elements, and those too deep. */
  readonly #open: { name: string; element: PageElement | undefined }[] = [];
  /** The number of open tags of each name, whether or not they created an element. */
  readonly #openByName = new Map<string, number>();
  openCount = 0;
  #current = this.#body;
  #depth = 0;
  #nodes = 0;
  #title: string | undefined;
  #capture: "title" | "style" | ReturnType<typeof captureOf> | undefined;
  #isDisplay = false;
  #captured = "";
  #scriptChars = 0;
  #droppedDepth = 0;
  isFull = false;
  full: () => void = () => undefined;

  opened(name: string): void {
    this.openCount++;
    const key = name.toLowerCase();
    this.#openByName.set(key, (this.#openByName.get(key) ?? 0) + 1);
  }

  closed(name: string): void {
    this.openCount--;
    const key = name.toLowerCase();
    this.#openByName.set(key, (this.#openByName.get(key) ?? 0) - 1);
  }

  isOpen(name: string): boolean {
    return (this.#openByName.get(name.toLowerCase()) ?? 0) > 0;
  }

  open(name: string, attributes: Record<string, string>): void {
    if (this.#droppedDepth > 0) {
      if (!VOID_TAGS.has(name)) this.#droppedDepth++;
      return;
    }
    if (ROOT_TAGS.has(name)) {
      for (const [key, value] of Object.entries(attributes)) this.#rootAttributes[key] ??= value;
      this.#open.push({ name, element: undefined });
      return;
    }
    if (HEAD_TAGS.has(name)) {
      // A refresh inside <noscript> is ignored. If such a page needs its scripts, it is rendered in a browser.
      if (this.isOpen("noscript") && attributes["http-equiv"] !== undefined) return;
      if (!this.#count()) return;
      const matter = new PageElement(name, attributes);
      this.#head.push(matter);
      // In microdata, <meta> and <link> occur in the body, where they belong to the surrounding element.
      if (attributes["itemprop"] !== undefined) this.#places.set(matter, this.#current);
      return;
    }
    if (DROPPED_TAGS.has(name) && !VOID_TAGS.has(name)) {
      if (name === "script") this.#capture = captureOf(attributes["type"] ?? "");
      if (name === "style" && this.#isRead(attributes)) this.#capture = "style";
      // A linked script counts with the length of its address.
      if (this.#capture === "script") this.#scriptChars += attributes["src"]?.length ?? 0;
      this.#isDisplay = /mode\s*=\s*display/i.test(attributes["type"] ?? "");
      this.#captured = "";
      this.#droppedDepth = 1;
      return;
    }
    if (name === "title" && this.#title === undefined && !this.isOpen("svg")) {
      this.#capture = "title";
      this.#captured = "";
      this.#open.push({ name, element: undefined });
      return;
    }
    this.#add(name, attributes);
  }

  /** Whether a style sheet is for screens, whether or not scripts run, and there is room for it. */
  #isRead(attributes: Record<string, string>): boolean {
    const isForScreens = ["", "all", "screen"].includes((attributes["media"] ?? "").trim().toLowerCase());
    return (
      isForScreens && !this.isOpen("noscript") && this.#styles.length < STYLES_MAX && this.#styleChars < STYLE_CHARS_MAX
    );
  }

  #add(name: string, attributes: Record<string, string>): void {
    if (!this.#count()) return;
    const isTooDeep = this.#depth >= TREE_DEPTH_MAX;
    for (const key in attributes)
      if ((attributes[key]?.length ?? 0) > ATTRIBUTE_CHARS_MAX) this.#shorten(attributes, key);
    const element = new PageElement(name, attributes);
    this.#current.appendChild(element);
    if (VOID_TAGS.has(name)) return;
    this.#open.push({ name, element: isTooDeep ? undefined : element });
    if (!isTooDeep) {
      this.#current = element;
      this.#depth++;
    }
  }

  /** Empties a long attribute. Data for the scripts of the page is kept as such: forums send whole threads so. */
  #shorten(attributes: Record<string, string>, key: string): void {
    const value = attributes[key] ?? "";
    attributes[key] = "";
    const held = this.#states.reduce((sum, { length }) => sum + length, value.length);
    if (key.startsWith("data-") && /^\s*[{[]/.test(value) && held <= STRUCTURED_CHARS_MAX) this.#states.push(value);
  }

  /**
   * Adds a formula that a script would render, as MathML with its source. If it was already rendered, the result is in the page
   * before it.
   */
  #formula(tex: string): void {
    if (tex === "" || !this.#count() || !this.#count()) return;
    for (let set = this.#current.lastChild; set instanceof PageElement && /^MathJax/.test(set.className); ) {
      set.remove();
      set = this.#current.lastChild;
    }
    const math = new PageElement("math", { display: this.#isDisplay ? "block" : "inline" });
    const source = new PageElement("annotation", { encoding: "application/x-tex" });
    source.appendChild(new PageText(tex));
    math.appendChild(source);
    this.#current.appendChild(math);
  }

  text(text: string): void {
    if (this.#capture !== undefined) {
      if (this.#capture === "script" || this.#capture === "state") this.#scriptChars += text.length;
      const charsMax = this.#capture === "script" ? SCRIPT_CHARS_MAX : STRUCTURED_CHARS_MAX;
      if (this.#captured.length < charsMax)
        this.#captured += this.#capture === "script" ? text.slice(0, SCRIPT_CHARS_MAX) : text;
      return;
    }
    if (this.#droppedDepth > 0) return;
    // A byte order mark within the text was left by an editor. It is not a character, but some patterns take it for white space.
    const written = text.includes("\ufeff") ? text.replaceAll("\ufeff", "") : text;
    if (written === "") return;
    const last = this.#current.lastChild;
    if (last instanceof PageText) last.data += written;
    else if (this.#count()) this.#current.appendChild(new PageText(written));
  }

  close(name: string): void {
    if (this.#droppedDepth > 0) {
      if (VOID_TAGS.has(name)) return;
      this.#droppedDepth--;
      if (this.#droppedDepth === 0) {
        if (this.#capture === "structured") this.#structured.push(this.#captured);
        if (this.#capture === "state") this.#states.push(this.#captured);
        if (this.#capture === "script" && this.#captured !== "" && this.#scripts.length < SCRIPTS_MAX)
          this.#scripts.push(this.#captured);
        if (this.#capture === "style") {
          this.#styles.push(this.#captured.slice(0, STYLE_CHARS_MAX - this.#styleChars));
          this.#styleChars += this.#captured.length;
        }
        if (this.#capture === "tex") this.#formula(this.#captured.trim());
        this.#capture = undefined;
      }
      return;
    }
    if (VOID_TAGS.has(name)) return;
    const top = this.#open[this.#open.length - 1];
    if (top === undefined || top.name !== name) return;
    this.#open.pop();
    if (this.#capture === "title" && name === "title") {
      this.#title = this.#captured;
      this.#capture = undefined;
    }
    if (top.element !== undefined) {
      this.#current = top.element.parentNode ?? this.#body;
      this.#depth--;
    }
  }

  finish(): PageDocument {
    return {
      body: this.#body,
      head: this.#head,
      places: this.#places,
      title: (this.#title ?? "").replace(/\s+/g, " ").trim(),
      language: this.#rootAttributes["lang"] ?? this.#rootAttributes["xml:lang"] ?? "",
      structured: this.#structured,
      states: this.#states,
      scripts: this.#scripts,
      styles: this.#styles,
      rootAttributes: this.#rootAttributes,
      scriptChars: this.#scriptChars,
      isCut: this.isFull,
    };
  }

  #count(): boolean {
    if (++this.#nodes <= NODES_MAX) return true;
    if (!this.isFull) this.full();
    this.isFull = true;
    return false;
  }
}

function captureOf(type: string): "structured" | "state" | "script" | "tex" {
  if (/^\s*math\/tex\b/i.test(type)) return "tex";
  if (/ld\+json/i.test(type)) return "structured";
  return /^application\/json/i.test(type) ? "state" : "script";
}
