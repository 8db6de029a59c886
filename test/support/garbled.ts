// Damaged JSON: values of another type, and members that are removed, duplicated, swapped or renamed. Most untrusted
// input is almost valid, so a damaged real document reaches more code of a reader than random input.

import fc from "fast-check";
import { parseFrames } from "../../src/base/sse.ts";
import { anyText } from "./any-text.ts";
import { transcript } from "./transcripts.ts";

/** Names of members that every object has, and names that the protocols use. */
const WORDS = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "",
  "text",
  "function",
  "tool_use",
  "message",
  "error",
];

/** Values that programs often do not expect. */
const ODD: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 53 + 2,
  1e300,
  -1e300,
  "\ud83d",
  "\ude00x",
  "\u0000\u2028\uFEFF",
  "{}",
  '{"a":',
  "x".repeat(5000),
  [],
  {},
  [[[[[[]]]]]],
  [null],
  { type: "text" },
  { toString: 1, valueOf: null },
  JSON.parse('{"__proto__":{"type":"text","index":0}}'),
];

/** Any JSON value. */
export const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...ODD),
  fc.constantFrom(...WORDS),
  anyText({ maxLength: 8 }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** The kinds of damage to one place. */
const damage = fc.record({
  place: fc.nat(),
  other: fc.nat(),
  how: fc.nat(6),
  put: odd,
  word: fc.constantFrom(...WORDS),
});

interface Slot {
  holder: Record<string, unknown> | unknown[];
  key: string | number;
}

function slotsOf(value: unknown): Slot[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Record<string, unknown>;
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => [{ holder, key }, ...slotsOf(holder[key])]);
}

const read = ({ holder, key }: Slot) => (holder as Record<string | number, unknown>)[key];

function write({ holder, key }: Slot, value: unknown): void {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
}

/** The value with damage in some places. */
export function garbled<T>(values: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.tuple(values, fc.array(damage, { maxLength: 4 })).map(([value, damages]) => {
    const whole = { value: structuredClone(value) as unknown };
    for (const { place, other, how, put: odd, word } of damages) {
      // A copy is used each time, since a value must not contain itself.
      const put = JSON.parse(JSON.stringify(odd)) as unknown;
      const slots = slotsOf(whole);
      const at = slots[place % slots.length] as Slot;
      const from = slots[other % slots.length] as Slot;
      const copy = JSON.parse(JSON.stringify(read(from) ?? null)) as unknown;
      const list = Array.isArray(at.holder) ? at.holder : undefined;
      if (how === 0) write(at, put);
      else if (how === 1 && list !== undefined) list.splice(at.key as number, 1);
      else if (how === 1) delete (at.holder as Record<string, unknown>)[at.key];
      else if (how === 2) write(at, copy);
      else if (how === 3 && list !== undefined) list.splice(at.key as number, 0, copy);
      else if (how === 4) write(at, word);
      else if (how === 5 && list === undefined) write({ holder: at.holder, key: word }, read(at));
      else if (how === 6 && list !== undefined) list.push(list.splice(at.key as number, 1)[0]);
      else write(at, put);
      if (!("value" in whole)) Object.assign(whole, { value: null });
    }
    return whole.value;
  });
}

/** A recorded stream of the dialect with some damage. Its frames are still complete and contain valid JSON. */
export function garbledStream(dialect: string, names: readonly string[]): fc.Arbitrary<string> {
  const frames = fc.constantFrom(...names).map((name) =>
    parseFrames(new TextDecoder().decode(transcript(dialect, name))).map(({ event, data }) => {
      try {
        return { event: event ?? null, data: JSON.parse(data) as unknown };
      } catch {
        return { event: event ?? null, text: data };
      }
    }),
  );
  return garbled(frames).map((list) => (Array.isArray(list) ? list : [list]).map(frameOf).join(""));
}

function frameOf(frame: unknown): string {
  const { event, data, text } = (typeof frame === "object" && frame !== null ? frame : {}) as Record<string, unknown>;
  const head = typeof event === "string" ? `event: ${event.replace(/[\r\n]/g, "")}\n` : "";
  return `${head}data: ${typeof text === "string" ? text.replace(/[\r\n]/g, "") : JSON.stringify(data ?? frame)}\n\n`;
}
