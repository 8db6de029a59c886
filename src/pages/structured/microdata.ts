// Reads microdata: the entities that a page marks in its own text with itemscope and itemprop.

import { entryOf } from "../../base/json-object.ts";
import { absolute, baseOf } from "../content/tidy.ts";
import { elementsOf, PageElement, type PageNode } from "../dom/node.ts";
import type { PageDocument } from "../dom/parse.ts";
import { plainTextOf } from "../words/plain-text.ts";
import { boundedText, type Entity, type Room } from "./entity.ts";

/** Maximum number of entities of one page. */
const ITEMS_MAX = 1000;
/** Maximum number of elements elsewhere that one entity may reference. */
const REFERENCES_MAX = 20;
/** Maximum number of elements that are examined, including repeated visits. */
const VISITS_MAX = 500_000;
/** The attributes that hold the value in place of the text. */
const VALUE_ATTRIBUTE: Readonly<Record<string, string>> = {
  meta: "content",
  data: "value",
  meter: "value",
  time: "datetime",
};
const ADDRESS_ATTRIBUTE: Readonly<Record<string, string>> = {
  a: "href",
  area: "href",
  link: "href",
  audio: "src",
  embed: "src",
  iframe: "src",
  img: "src",
  source: "src",
  track: "src",
  video: "src",
  object: "data",
};

type Item = Record<string, unknown>;

interface Reading {
  readonly base: string;
  readonly room: Room;
  readonly items: Item[];
  readonly byId: ReadonlyMap<string, PageElement>;
  /** <meta> and <link> elements by the element that contains them. */
  readonly placed: ReadonlyMap<PageElement, readonly PageElement[]>;
  readonly left: { items: number; visits: number };
  /** Whether this element was referenced. It cannot reference further ones. */
  readonly isReferred: boolean;
}

/** The entities that are not part of another one, in order. */
export function readMicrodata(document: PageDocument, url: string, room: Room): Entity[] {
  const elements = elementsOf(document.body);
  const isMarked = (attributes: Readonly<Record<string, string>>) => attributes["itemscope"] !== undefined;
  const root = isMarked(document.rootAttributes);
  if (!root && !elements.some(({ attributes }) => isMarked(attributes))) return [];
  const byId = new Map<string, PageElement>();
  for (const element of elements) if (element.id !== "" && !byId.has(element.id)) byId.set(element.id, element);
  const placed = new Map<PageElement, PageElement[]>();
  for (const [element, place] of document.places) placed.set(place, [...(placed.get(place) ?? []), element]);
  const left = { items: ITEMS_MAX, visits: VISITS_MAX };
  const reading = { base: baseOf(document, url), room, items: [], byId, placed, left, isReferred: false };
  return readAll(document, root, reading).filter((one) => Object.keys(one).some((name) => !name.startsWith("@")));
}

function readAll(document: PageDocument, isMarked: boolean, reading: Reading): Item[] {
  const item = isMarked ? newItem(document.rootAttributes, reading) : undefined;
  if (item !== undefined) reading.items.push(item);
  readWithin(document.body, item, reading);
  return reading.items;
}

function newItem(attributes: Readonly<Record<string, string>>, reading: Reading): Item | undefined {
  if (reading.left.items-- <= 0) return undefined;
  const item: Item = {};
  const types = (attributes["itemtype"] ?? "").split(/\s+/).filter((type) => type !== "");
  if (types.length > 0) item["@type"] = types.map(lastName).slice(0, 5);
  if (types.length === 1) item["@type"] = lastName(types[0] as string);
  if (attributes["itemid"] !== undefined) item["@id"] = boundedText(attributes["itemid"], reading.room);
  return item;
}

/** The name of a type without the address of its vocabulary. */
function lastName(type: string): string {
  return type
    .replace(/(?<![/#])[/#]+$/, "")
    .replace(/^.*[/#]/, "")
    .slice(0, 100);
}

function readWithin(element: PageElement, item: Item | undefined, reading: Reading): void {
  for (const head of reading.placed.get(element) ?? []) if (item !== undefined) addMembers(head, item, reading);
  for (let child: PageNode | null = element.firstChild; child !== null; child = child.nextSibling)
    if (child instanceof PageElement) readElement(child, item, reading);
}

function readElement(element: PageElement, item: Item | undefined, reading: Reading): void {
  const { attributes } = element;
  if (reading.left.visits-- <= 0) return;
  if (attributes["itemscope"] === undefined) {
    if (item !== undefined && attributes["itemprop"] !== undefined) addMembers(element, item, reading);
    readWithin(element, item, reading);
    return;
  }
  const inner = newItem(attributes, reading);
  if (inner === undefined) return;
  if (item !== undefined && attributes["itemprop"] !== undefined) add(item, attributes["itemprop"], inner, reading);
  else reading.items.push(inner);
  readWithin(element, inner, reading);
  if (reading.isReferred) return;
  for (const id of (attributes["itemref"] ?? "").split(/\s+/).slice(0, REFERENCES_MAX)) {
    const elsewhere = reading.byId.get(id);
    // This check prevents an endless loop over an entity that contains itself.
    if (elsewhere !== undefined && !isWithin(element, elsewhere) && !isWithin(elsewhere, element))
      readElement(elsewhere, inner, { ...reading, isReferred: true });
  }
}

function isWithin(node: PageElement, outer: PageElement): boolean {
  for (let at: PageElement | null = node; at !== null; at = at.parentNode) if (at === outer) return true;
  return false;
}

function addMembers(element: PageElement, item: Item, reading: Reading): void {
  if (reading.room.values <= 0 || reading.room.chars <= 0) return;
  const value = valueIn(element, reading);
  if (value !== "") add(item, element.attributes["itemprop"] ?? "", value, reading);
}

function add(item: Item, names: string, value: unknown, { room }: Reading): void {
  for (const full of names.split(/\s+/)) {
    const name = lastName(full);
    if (name === "" || name === "__proto__" || room.values-- <= 0) continue;
    const known = Object.hasOwn(item, name) ? item[name] : undefined;
    item[name] = known === undefined ? value : Array.isArray(known) ? [...known, value] : [known, value];
  }
}

function valueIn(element: PageElement, { base, room }: Reading): string {
  const { tag, attributes } = element;
  const written = attributes["content"] ?? attributes[entryOf(VALUE_ATTRIBUTE, tag) ?? ""];
  if (written !== undefined) return boundedText(written, room);
  const address = attributes[entryOf(ADDRESS_ATTRIBUTE, tag) ?? ""];
  if (address !== undefined) return boundedText(absolute(address, base) ?? address, room);
  return boundedText(plainTextOf(element), room);
}
