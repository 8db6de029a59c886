// Sorts the entities in a page's structured data: which of them are of one kind, which are the same, and which only describe the
// site.

import { isRecord } from "../../base/json-object.ts";
import type { Entity, StructuredData } from "../../pages/structured/structured.ts";
import { foldedName } from "./names.ts";

/** An entity, as all descriptions of it on the page. */
export type Thing = readonly Entity[];

/** The entities of a page. */
export interface Things {
  /** The top-level entities in their order. Those about the site are left out if there are others. */
  readonly main: readonly Thing[];
  readonly frame: readonly Thing[];
  /** The lists that the page marks as such, each with its entries. */
  readonly lists: readonly (readonly Thing[])[];
  /** The entity to which a member refers, or the member itself if it is no reference. */
  follow(value: unknown): unknown;
}

/** Types that nearly every page contains, whatever it is about. */
const FRAME_TYPES = new Set(
  "website webpage collectionpage itempage searchresultspage aboutpage contactpage faqpage breadcrumblist itemlist organization newsmediaorganization onlinestore corporation person imageobject searchaction sitenavigationelement wpheader wpfooter wpsidebar listitem"
    .split(" ")
    .map(foldedName),
);

/** Whether an entity describes the site rather than the subject of the page. */
export function isFrame(entity: Entity): boolean {
  const types = typesOf(entity);
  return types.length > 0 && types.every((type) => FRAME_TYPES.has(type));
}

/** The normalised types of an entity. */
export function typesOf(entity: Entity): string[] {
  const types = [entity["@type"]].flat().filter((type): type is string => typeof type === "string");
  return types.map((type) => foldedName(type.replace(/^.*[/#:]/, "")));
}

/** Sorts a page's structured data. */
export function thingsOf({ jsonLd, microdata }: StructuredData): Things {
  const top = [...jsonLd, ...microdata];
  const follow = follower(top);
  const own = top.flatMap((entity) => [entity, ...[follow(entity["mainEntity"])].flat().filter(isRecord)]);
  const lists = own.filter((entity) => typesOf(entity).includes("itemlist")).map((entity) => entriesOf(entity, follow));
  const listed = new Set(lists.flat());
  const things = grouped(own.filter((entity) => !listed.has(entity)));
  return {
    main: things.filter((thing) => !thing.every(isFrame)),
    frame: things.filter((thing) => thing.every(isFrame)),
    lists: lists.filter((entries) => entries.length > 0).map((entries) => entries.map((entry) => [entry])),
    follow,
  };
}

/** Creates a function that finds entities by their `@id`. */
function follower(top: readonly Entity[]): (value: unknown) => unknown {
  const byId = new Map<string, Entity>();
  const waiting: unknown[] = [...top];
  for (let at = 0; at < waiting.length; at++) {
    const value = waiting[at];
    if (Array.isArray(value)) waiting.push(...value);
    if (!isRecord(value)) continue;
    const id = value["@id"];
    if (typeof id === "string" && !isReference(value) && !byId.has(id)) byId.set(id, value);
    waiting.push(...Object.values(value));
  }
  const follow = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(follow);
    return isRecord(value) && isReference(value) ? (byId.get(value["@id"] as string) ?? value) : value;
  };
  return follow;
}

/** Whether an entity consists of a reference only. */
function isReference(entity: Entity): boolean {
  return typeof entity["@id"] === "string" && Object.keys(entity).every((name) => name === "@id" || name === "@type");
}

/** The entries of a list that have more than an address. */
function entriesOf(list: Entity, follow: (value: unknown) => unknown): Entity[] {
  const elements = [follow(list["itemListElement"])].flat().filter(isRecord);
  return elements
    .map((element) => follow(element["item"]) ?? element)
    .filter((entry): entry is Entity => isRecord(entry) && Object.keys(entry).some((name) => !LISTING.has(name)));
}

const LISTING = new Set(["@type", "@id", "position", "url", "item"]);

/** Groups descriptions by entity: those with the same type and name describe the same one. */
function grouped(entities: readonly Entity[]): Thing[] {
  const groups = new Map<string, Entity[]>();
  entities.forEach((entity, at) => {
    const name = [entity["name"], entity["headline"], entity["title"]].find((one) => typeof one === "string");
    const key = name === undefined ? `#${at}` : `${typesOf(entity).join(" ")} ${foldedName(name as string)}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entity]);
    else group.push(entity);
  });
  return [...groups.values()].map((group) => [...new Set(group)]);
}
