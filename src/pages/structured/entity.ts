// The entities that a page describes for programs, and the limits on how much of them is kept, as pages are untrusted.

/** An entity with its members as the page names them, including `@type` and `@id`. */
export type Entity = Readonly<Record<string, unknown>>;

/** Members at a greater depth are dropped. Real pages stay below 10. */
const DEPTH_MAX = 20;
/** Maximum number of members and entries of all entities of one page. */
const VALUES_MAX = 20_000;
const TEXT_CHARS_MAX = 5000;
/** Maximum number of characters of all texts together. */
const CHARS_MAX = 500_000;

/** How much of the limits one page may still use. */
export interface Room {
  values: number;
  chars: number;
}

/** The limits for one page. */
export function newRoom(): Room {
  return { values: VALUES_MAX, chars: CHARS_MAX };
}

/** The part of a value that the limits allow; undefined if they allow none. */
export function bounded(value: unknown, room: Room, depth = 0): unknown {
  if (room.values <= 0 || room.chars <= 0 || depth > DEPTH_MAX) return undefined;
  room.values--;
  if (typeof value === "string") return boundedText(value, room);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value))
    return value.flatMap((entry) => {
      const kept = bounded(entry, room, depth + 1);
      return kept === undefined ? [] : [kept];
    });
  const members: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    // These names are not regular members, so dropping them loses nothing.
    if (name === "@context" || name === "__proto__" || name.length > TEXT_CHARS_MAX) continue;
    room.chars -= name.length;
    const kept = bounded(member, room, depth + 1);
    if (kept !== undefined) members[name] = kept;
  }
  return members;
}

/** The part of a text that the limits allow, on one line. */
export function boundedText(text: string, room: Room): string {
  const kept = text
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, Math.min(TEXT_CHARS_MAX, Math.max(0, room.chars)));
  room.chars -= kept.length;
  return kept;
}
