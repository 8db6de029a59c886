// Reads hits from HTML and XML by CSS selectors. A page without hits is only empty if it says so; otherwise it has changed.

import type { AnyNode, Document, Element } from "domhandler";
import { lazily } from "../../base/lazily.ts";
import { raisedText } from "../../base/raised-text.ts";
import type { EngineContext, EngineResponse, Parsed } from "../engine.ts";
import { isoDate } from "./date.ts";
import { parseMarkup } from "./document.ts";
import {
  completed,
  isKeyed,
  type More,
  type PartialHit,
  RESULTS_MAX,
  type Read,
  selectorsOf,
  strangeSelector,
} from "./json.ts";
import { failed, statusFailure } from "./status.ts";
import { BREAKING_TAGS, HIDDEN_TAGS, oneLine, plain, webAddress } from "./text.ts";

/** Loaded with the first markup. */
const selecting = lazily((): typeof import("css-select") => require("css-select"));

/** Reads the values below an element by the names of the engine's selectors. */
export interface MarkupFields {
  readonly element: AnyNode;
  /** The text, or the attribute if the selector ends in `@name`, as one plain line; empty if it is missing. */
  text(name: string): string;
  /** The texts of all matching elements, without empty ones. */
  texts(name: string): string[];
  /** A text that contains markup itself, as in feeds. */
  inner(name: string): string;
  date(name: string): string | undefined;
  /** A web address, resolved against that of the response. */
  address(name: string): string | undefined;
}

/**
 * How an engine's markup is read, in addition to its selectors: `results` are the hits, `none` marks an empty page, `captcha`
 * marks a bot check, and `hidden` is not part of any text.
 */
export interface MarkupReading {
  readonly engine: Read;
  readonly xml?: true;
  /**
   * Adds to the values of the selectors `title`, `url`, `snippet`, `date` and `thumbnail`, or replaces them; undefined skips the
   * item.
   */
  draft?(fields: MarkupFields): PartialHit | undefined;
  /** Whether an item is skipped before it counts, such as an advertisement. */
  skips?(fields: MarkupFields): boolean;
  /** The failure that a page reports although its status is 200, or that takes precedence over the status. */
  failure?(page: MarkupFields, response: EngineResponse): Parsed | undefined;
  more?(page: MarkupFields): More;
}

/** Reads an HTML or XML response. */
export function readMarkup(response: EngineResponse, context: EngineContext, reading: MarkupReading): Parsed {
  const strange = strangeSelector(reading.engine, context);
  if (strange !== undefined) return strange;
  const selectors = selectorsOf(reading.engine, context);
  const broken = brokenSelector(selectors);
  if (broken !== undefined) return failed("changed_markup", `The selector "${broken}" cannot be read.`);
  const document = parseMarkup(response.body, { xml: reading.xml === true });
  if (document === undefined)
    return failed("changed_markup", "The answer is larger or more deeply nested than any result page.");
  const place: Place = { response, context, hidden: new Set<AnyNode>(all(document, selectors["hidden"] ?? "")) };
  const page = fieldsOf(document, selectors, place);
  if (has(document, selectors["captcha"])) return failed("captcha", "The engine shows a captcha.");
  const told = reading.failure?.(page, response);
  if (told !== undefined) return told;
  const failure = statusFailure(response, { keyed: isKeyed(reading.engine, context) });
  if (failure !== undefined) return { kind: "failure", failure };
  return hitsOf(document, { selectors, reading, place, page });
}

/** The first text, or attribute, at a selector in an HTML page; empty if it is missing. */
export function firstText(html: string, selector: string): string {
  const { css, attribute } = parted(selector);
  if (brokenSelector({ selector }) !== undefined || css === "") return "";
  const document = parseMarkup(html, { xml: false });
  const found = document === undefined ? null : selecting().selectOne<AnyNode, Element>(css, document, OPTIONS);
  if (found === null) return "";
  return oneLine(attribute === undefined ? textOf(found, new Set()) : (found.attribs[attribute] ?? ""));
}

interface Work {
  readonly selectors: Readonly<Record<string, string>>;
  readonly reading: MarkupReading;
  readonly place: Place;
  readonly page: MarkupFields;
}

function hitsOf(document: Document, { selectors, reading, place, page }: Work): Parsed {
  const wanted = all(document, selectors["results"] ?? "")
    .slice(0, RESULTS_MAX)
    .map((item) => fieldsOf(item, selectors, place))
    .filter((fields) => reading.skips?.(fields) !== true);
  const isComplete = isWhole(document, place.response.body);
  if (wanted.length === 0) {
    if (isComplete && has(document, selectors["none"])) return { kind: "hits", hits: [], ...reading.more?.(page) };
    return failed(
      "changed_markup",
      `The answer has nothing at "${selectors["results"]}", and does not say that it is empty.`,
    );
  }
  // The last item of a truncated response may be incomplete, so it is dropped.
  const whole = isComplete ? wanted : wanted.slice(0, -1);
  const hits = whole.flatMap((fields) => {
    const own = reading.draft === undefined ? {} : reading.draft(fields);
    const hit = own === undefined ? undefined : completed({ ...drafted(fields, selectors), ...own });
    return hit === undefined ? [] : [hit];
  });
  if (hits.length === 0) return failed("changed_markup", "No item of the answer has a title and an address.");
  return { kind: "hits", hits, ...reading.more?.(page) };
}

/** The parts of a selector with an attribute, such as `a.title@href`. */
function parted(selector: string): { css: string; attribute: string | undefined } {
  const at = /@([\w:-]+)$/.exec(selector);
  return at === null ? { css: selector, attribute: undefined } : { css: selector.slice(0, at.index), attribute: at[1] };
}

/** The first invalid selector; undefined if all are valid. An empty selector means the item itself. */
export function brokenSelector(selectors: Readonly<Record<string, string>>): string | undefined {
  const { compile } = selecting();
  return Object.values(selectors).find((selector) => {
    const { css } = parted(selector);
    if (css === "") return false;
    try {
      compile(css);
      return false;
    } catch {
      return true;
    }
  });
}

/** Whether the response is complete: it contains the end tag of the page, or of its outermost element. */
function isWhole(document: Document, body: string): boolean {
  if (/<\/html\s*>/i.test(body)) return true;
  const root = document.children.find((node): node is Element => node.type === "tag");
  if (root === undefined || root.name === "html") return false;
  return body.trimEnd().endsWith(`</${root.name}>`);
}

/** Names are compared as they are written: XML distinguishes `Title` from `title`, and the names of HTML are in lower case. */
const OPTIONS = { xmlMode: true } as const;

function all(below: AnyNode, selector: string): Element[] {
  return selector === "" ? [] : selecting().selectAll<AnyNode, Element>(selector, below, OPTIONS);
}

function has(below: AnyNode, selector: string | undefined): boolean {
  return (
    selector !== undefined &&
    selector !== "" &&
    selecting().selectOne<AnyNode, Element>(selector, below, OPTIONS) !== null
  );
}

interface Place {
  readonly response: EngineResponse;
  readonly context: EngineContext;
  readonly hidden: ReadonlySet<AnyNode>;
}

function fieldsOf(
  element: AnyNode,
  selectors: Readonly<Record<string, string>>,
  { response, context, hidden }: Place,
): MarkupFields {
  const raws = (name: string): string[] => {
    const selector = selectors[name];
    if (selector === undefined) return [];
    const { css, attribute } = parted(selector);
    const found = css === "" ? [element as Element] : selecting().selectAll<AnyNode, Element>(css, element, OPTIONS);
    return found.map((one) => (attribute === undefined ? textOf(one, hidden) : (one.attribs[attribute] ?? "")));
  };
  const first = (name: string) =>
    raws(name)
      .map(oneLine)
      .find((text) => text !== "") ?? "";
  return {
    element,
    text: first,
    texts: (name) =>
      raws(name)
        .map(oneLine)
        .filter((text) => text !== ""),
    inner: (name) => plain(first(name)),
    date: (name) => isoDate(first(name), context.query.nowMs),
    address: (name) => webAddress(first(name), response.url),
  };
}

function drafted(fields: MarkupFields, selectors: Readonly<Record<string, string>>): PartialHit {
  const has = (name: string) => selectors[name] !== undefined;
  return {
    ...(has("url") && { url: fields.address("url") }),
    ...(has("title") && { title: fields.text("title") }),
    ...(has("snippet") && { snippet: fields.text("snippet") }),
    ...(has("date") && { publishedAt: fields.date("date") }),
    ...(has("thumbnail") && { thumbnail: fields.address("thumbnail") }),
  };
}

/** The text below a node. Elements that break lines separate words. It is not recursive, since hostile responses nest deeply. */
function textOf(root: AnyNode, hidden: ReadonlySet<AnyNode>): string {
  let text = "";
  const unread: (AnyNode | string)[] = [root];
  for (let node = unread.pop(); node !== undefined; node = unread.pop()) {
    if (typeof node === "string") text += node;
    else if (node.type === "text") text += node.data;
    else if ("children" in node) {
      const name = "name" in node ? node.name : "";
      if (HIDDEN_TAGS.has(name) || hidden.has(node)) continue;
      if ((name === "sup" || name === "sub") && node !== root) {
        text += raisedText({ tag: name, text: textOf(node, hidden), before: text.slice(-40), after: "" });
        continue;
      }
      const isBreaking = BREAKING_TAGS.has(name);
      if (isBreaking) {
        text += " ";
        unread.push(" ");
      }
      for (let index = node.children.length - 1; index >= 0; index--) unread.push(node.children[index]!);
    }
  }
  return text;
}
