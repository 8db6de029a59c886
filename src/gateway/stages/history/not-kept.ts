// Corrects what an answer says of itself when it could not be stored: a client that relies on `store: true` would continue from
// an answer that nobody has.

import { editJson } from "../../../base/json-edit.ts";

type Members = Readonly<Record<string, unknown>>;

/** The text of a whole answer, with `store: false` where it said that it was stored. */
export function withoutStore(text: string): string {
  return membersOf(text)?.["store"] === true ? editJson(text, [{ path: ["store"], value: false }]) : text;
}

/** The same for the frames of a stream: an event at its end carries the whole answer. */
export function framesWithoutStore(text: string): string {
  return text.replace(/^(data: ?)(\{.*\})$/gm, (line, start: string, data: string) => {
    const response = membersOf(data)?.["response"] as Members | undefined;
    return response?.["store"] === true
      ? start + editJson(data, [{ path: ["response", "store"], value: false }])
      : line;
  });
}

function membersOf(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Members) : undefined;
  } catch {
    return undefined;
  }
}
