// Changes JSON inside a frame without changing the frame's other bytes.

import { soleText, spliceMembers, topLevelMembers } from "../../base/json-splice.ts";

/** A frame's text with its JSON replaced. `data` must be one line of the frame. */
export function withData(frame: string, data: string, edited: string): string {
  if (edited === data) return frame;
  const at = frame.indexOf(data);
  return at < 0 ? frame : frame.slice(0, at) + edited + frame.slice(at + data.length);
}

/** Sets members of the object under the top-level member `key`. Returns the text unchanged if there is no such object. */
export function spliceInside(text: string, key: string, members: Readonly<Record<string, unknown>>): string {
  const span = topLevelMembers(text).get(key)?.at(-1);
  if (span === undefined || text[span.valueStart] !== "{") return text;
  const inner = spliceMembers(text.slice(span.valueStart, span.valueEnd), members);
  return text.slice(0, span.valueStart) + inner + text.slice(span.valueEnd);
}

/** Decodes the content of a JSON string. Invalid content is returned unchanged. */
export function unescaped(raw: string): string {
  if (!raw.includes("\\")) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw;
  }
}

const CHOICES = { choices: undefined };
const DELTA = { delta: undefined };
const CONTENT = { content: undefined };

/** The position of `choices[0].delta.content`, which is a text, in the text of a chat chunk, without its quotes. */
export function contentSpan(data: string): { start: number; end: number } | undefined {
  const sole = soleText(data, "content");
  if (sole !== undefined) return sole;
  const choices = topLevelMembers(data, 0, CHOICES).get("choices")?.[0];
  if (choices === undefined) return undefined;
  const open = data.indexOf("{", choices.valueStart);
  const delta = topLevelMembers(data, open, DELTA).get("delta")?.[0];
  if (delta === undefined) return undefined;
  const content = topLevelMembers(data, delta.valueStart, CONTENT).get("content")?.[0];
  return content === undefined ? undefined : { start: content.valueStart + 1, end: content.valueEnd - 1 };
}
