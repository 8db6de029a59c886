// Merges the entries of a list that describe the same item: entries with the same identifier; with the same address and no
// difference in their names; with the same name and no contradiction; and equal entries.

import { isRecord } from "../../base/json-object.ts";
import { put } from "./quotes.ts";

/** Called for a member that differs between two entries with the same identifier. */
export type Contradicted = (field: string, kept: unknown, dropped: unknown) => void;

/** Normalised names of members that identify an item. */
const IDENTIFIERS = new Set(
  "id identifier uuid guid sku mpn gtin gtin8 gtin12 gtin13 gtin14 ean upc asin isbn isbn10 isbn13 issn doi".split(" "),
);
/**
 * Names of members that several items may share, such as a page that lists all of them, or an office that is responsible for all.
 */
const ADDRESSES = new Set("url link href permalink email slug".split(" "));
const NAMES = new Set("name title headline label question term".split(" "));
const TELLING = [IDENTIFIERS, ADDRESSES, NAMES];

/** Merges the entries that describe the same item, in the order of their first occurrence. Merging again changes nothing. */
export function joinItems(items: readonly unknown[], contradicted: Contradicted): unknown[] {
  let joined = joinOnce(items, contradicted);
  // An entry that got an identifier from another entry may now match a third one.
  for (let before = items.length; joined.length < before; ) {
    before = joined.length;
    joined = joinOnce(joined, contradicted);
  }
  return joined;
}

/**
 * Maximum number of entries of one name with which an entry is compared, as a page may list thousands that contradict each other.
 */
const COMPARED_MAX = 8;

interface Joining {
  readonly contradicted: Contradicted;
  /** The objects and lists that were made here, to which more is added: thousands of entries may describe one item. */
  readonly own: WeakSet<object>;
}

/** Entries are found by their content, so that long lists are not compared pairwise. */
function joinOnce(items: readonly unknown[], contradicted: Contradicted): unknown[] {
  const kept: unknown[] = [];
  const joining: Joining = { contradicted, own: new WeakSet() };
  // The text of the first entry of each item: what is joined with it has its telling members, or the same text.
  const texts: string[] = [];
  const byKey = new Map<string, number[]>();
  for (const item of items) {
    if (item === null || item === undefined) continue;
    const text = sameText(item);
    const keys = keysOf(item, text);
    const candidates = [...new Set(keys.flatMap((key) => byKey.get(key) ?? []))].sort((one, two) => one - two);
    const same = candidates.find((at) => texts[at] === text || areSame(kept[at], item));
    const at = same ?? kept.length;
    if (same === undefined) {
      kept.push(item);
      texts.push(text);
    } else if (isRecord(item)) {
      kept[at] = joinMembers(kept[at] as Members, item, joining);
    }
    for (const key of keys) {
      const places = byKey.get(key);
      if (places === undefined) byKey.set(key, [at]);
      else if (places.length < COMPARED_MAX && !places.includes(at)) places.push(at);
    }
  }
  return kept.map((one) => withJoinedLists(one, joining));
}

/** A value with the entries of its lists merged, once all are there. */
function withJoinedLists(value: unknown, joining: Joining): unknown {
  if (typeof value !== "object" || value === null || !joining.own.has(value)) return value;
  if (Array.isArray(value)) return joinItems(value, joining.contradicted);
  for (const [name, member] of Object.entries(value))
    put(value as Record<string, unknown>, name, withJoinedLists(member, joining));
  return value;
}

type Members = Readonly<Record<string, unknown>>;

/** The keys under which an entry is found. Two entries without a common key describe different items. */
function keysOf(item: unknown, text: string): string[] {
  if (!isRecord(item)) return [text];
  const named = Object.entries(item).flatMap(([name, value]) =>
    isPlain(value) && TELLING.some((known) => known.has(folded(name))) ? [`${folded(name)} ${sameText(value)}`] : [],
  );
  return [...named, text];
}

function areSame(one: unknown, two: unknown): boolean {
  if (!isRecord(one) || !isRecord(two)) return false;
  // The first may have the members of thousands.
  const shared = Object.keys(two).filter(
    (name) => Object.hasOwn(one, name) && isPlain(one[name]) && isPlain(two[name]),
  );
  const agrees = (name: string) => sameText(one[name]) === sameText(two[name]);
  const within = (known: ReadonlySet<string>) => shared.filter((name) => known.has(folded(name)));
  const [identifiers, addresses, names] = [within(IDENTIFIERS), within(ADDRESSES), within(NAMES)];
  if (identifiers.length > 0) return identifiers.every(agrees);
  if (addresses.length > 0) return [...addresses, ...names].every(agrees);
  return names.length > 0 && shared.every(agrees);
}

function folded(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

function isPlain(value: unknown): boolean {
  return value !== null && value !== undefined && typeof value !== "object";
}

/** The members of both entries; the second one fills what the first one lacks. */
function joinMembers(one: Members, two: Members, joining: Joining): Members {
  const { contradicted, own } = joining;
  const joined: Record<string, unknown> = own.has(one) ? one : { ...one };
  own.add(joined);
  for (const [name, value] of Object.entries(two)) {
    const known = Object.hasOwn(joined, name) ? joined[name] : undefined;
    if (value === null || value === undefined) {
      if (!Object.hasOwn(joined, name)) put(joined, name, null);
    } else if (known === null || known === undefined) put(joined, name, value);
    else if (Array.isArray(known) && Array.isArray(value)) put(joined, name, joinedLists(known, value, joining));
    else if (isRecord(known) && isRecord(value)) put(joined, name, joinMembers(known, value, joining));
    else if (sameText(known) !== sameText(value)) contradicted(name, known, value);
  }
  return joined;
}

function joinedLists(one: unknown[], two: readonly unknown[], { own }: Joining): unknown[] {
  const joined = own.has(one) ? one : [...one];
  own.add(joined);
  for (const entry of two) joined.push(entry);
  return joined;
}

/** A text that is equal for equivalent values: case, white space, the order of members and empty members are ignored. */
export function sameText(value: unknown): string {
  return JSON.stringify(plainForm(value));
}

function plainForm(value: unknown): unknown {
  if (typeof value === "string") return value.normalize("NFC").replace(/\s+/g, " ").trim().toLowerCase();
  if (Array.isArray(value)) return value.map(plainForm);
  if (!isRecord(value)) return value ?? null;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  members.sort(([one], [two]) => (one < two ? -1 : 1));
  return ["object", ...members.map(([name, member]) => [name, plainForm(member)])];
}
