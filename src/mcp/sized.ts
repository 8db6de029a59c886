// Limits the size of answers for agents: long texts are cut, long lists are shortened, and the answer says so.

import type { JsonRecord } from "./tool.ts";

/** Maximum number of characters of an answer's text, and again of its data. */
export const ANSWER_CHARS_MAX = 500_000;
/**
 * Texts up to this length, such as names, addresses and titles, are kept whole, so that the fields after a long text are not
 * lost.
 */
const SHORT_CHARS = 2000;
/** Maximum number of members of one object that are kept. */
const MEMBERS_MAX = 10_000;

/** A text within the limit, with a note where it was cut off. */
export function sizedText(text: string): string {
  if (text.length <= ANSWER_CHARS_MAX) return text;
  return `${cut(text, ANSWER_CHARS_MAX)}\n\n[Cut after ${ANSWER_CHARS_MAX} of ${text.length} characters.]`;
}

/** The data within the limit, and whether anything was left out. */
export function sizedData(data: JsonRecord): { readonly data: JsonRecord; readonly isCut: boolean } {
  const room = { chars: ANSWER_CHARS_MAX, isCut: false };
  // Most answers are small; they are measured once and not copied.
  if (isWithin(data, room.chars)) return { data, isCut: false };
  return { data: shorten(data, room) as JsonRecord, isCut: room.isCut };
}

interface Room {
  chars: number;
  isCut: boolean;
}

function shorten(value: unknown, room: Room): unknown {
  if (typeof value === "string") return shortText(value, room);
  if (typeof value !== "object" || value === null) {
    room.chars -= 8;
    return value;
  }
  if (Array.isArray(value)) {
    const kept: unknown[] = [];
    for (const item of value) {
      if (room.chars <= 0) {
        room.isCut = true;
        break;
      }
      kept.push(shorten(item, room));
    }
    return kept;
  }
  const members = Object.entries(value);
  if (members.length > MEMBERS_MAX) room.isCut = true;
  return Object.fromEntries(
    members.slice(0, MEMBERS_MAX).map(([name, member]) => {
      room.chars -= name.length + 4;
      return [name, shorten(member, room)];
    }),
  );
}

function shortText(text: string, room: Room): string {
  const left = Math.max(room.chars, SHORT_CHARS);
  const kept = text.length <= left ? text : `${cut(text, left)}…`;
  if (kept !== text) room.isCut = true;
  room.chars -= kept.length + 3;
  return kept;
}

/** The beginning of a text, without splitting a surrogate pair. */
function cut(text: string, chars: number): string {
  const last = text.charCodeAt(chars - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? chars - 1 : chars);
}

function isWithin(value: unknown, chars: number): boolean {
  let charsLeft = chars;
  const look = (one: unknown): boolean => {
    if (typeof one === "string") charsLeft -= one.length + 3;
    else if (typeof one !== "object" || one === null) charsLeft -= 8;
    else if (Array.isArray(one)) return one.every(look) && charsLeft >= 0;
    else {
      for (const [name, member] of Object.entries(one)) {
        charsLeft -= name.length + 4;
        if (charsLeft < 0 || !look(member)) return false;
      }
    }
    return charsLeft >= 0;
  };
  return look(value);
}
