// The things that a page describes for programs, and how much of them is kept: pages come from strangers.

/** A thing: members as the page names them, `@type` and `@id` among them. */
export type Entity = Readonly<Record<string, unknown>>;

/** Deeper members are left out; real pages stay under 10. */
const DEPTH_MAX = 20;
/** Members and entries of all things of one page. */
const VALUES_MAX = 20_000;
const TEXT_CHARS_MAX = 5000;
/** Of all texts together. */
const CHARS_MAX = 500_000;

/** What one page may still hold. */
export interface Room {
  values: number;
  chars: number;
}

/** The room of a page. */
export function newRoom(): Room {
  return { values: VALUES_MAX, chars: CHARS_MAX };
}

/** The value as far as there is room for it; undefined where there is none. */
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
    // A name that is no member of a thing; nothing is lost with it.
    if (name === "@context" || name === "__proto__" || name.length > TEXT_CHARS_MAX) continue;
    room.chars -= name.length;
    const kept = bounded(member, room, depth + 1);
    if (kept !== undefined) members[name] = kept;
  }
  return members;
}

/** A text on one line, as long as there is room for. */
export function boundedText(text: string, room: Room): string {
  const kept = text
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, Math.min(TEXT_CHARS_MAX, Math.max(0, room.chars)));
  room.chars -= kept.length;
  return kept;
}
