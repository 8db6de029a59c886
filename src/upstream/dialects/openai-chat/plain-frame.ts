// Nearly all frames of a stream repeat the last one with another text. They are recognised by the text around it, and not parsed.

import { isRecord } from "../../../base/json-object.ts";
import type { ChatEvent } from "../../../chat/event.ts";
import { contentSpan } from "../relay-frames.ts";
import { pagesBeside } from "./pages-beside.ts";
import { usagesIn } from "./usage.ts";

/** How often the text around the content may change before frames are only parsed. */
const LEARNED_MAX = 16;
const [QUOTE, BACKSLASH, SPACE] = [34, 92, 32];
const PROBE = "another text";

/** The text around the content of a stream's plain frames. */
export class PlainFrame {
  #prefix = "";
  #suffix = "";
  #learned = 0;
  /** The index of the choice whose text it is. */
  choice = 0;

  /** The content of a frame that is like the one that was learned; undefined for others, and for content with escapes. */
  contentOf(data: string): string | undefined {
    const [from, to] = [this.#prefix.length, data.length - this.#suffix.length];
    if (from === 0 || to <= from || !data.startsWith(this.#prefix) || !data.endsWith(this.#suffix)) return undefined;
    for (let at = from; at < to; at++) {
      const code = data.charCodeAt(at);
      if (code === QUOTE || code === BACKSLASH || code < SPACE) return undefined;
    }
    return data.slice(from, to);
  }

  /** Learns a frame that was read as one event. `chunk`: its data, parsed. */
  learn(data: string, chunk: unknown, event: ChatEvent): void {
    if (this.#learned >= LEARNED_MAX || (this.#prefix !== "" && data.startsWith(this.#prefix))) return;
    if (event.type !== "text-delta" || event.logprobs !== undefined || onlyContent(chunk) === undefined) return;
    this.#learned++;
    const span = contentSpan(data);
    if (span === undefined || data.includes(PROBE)) return;
    const [prefix, suffix] = [data.slice(0, span.start), data.slice(span.end)];
    if (!isContentBetween(prefix, suffix)) return;
    this.#prefix = prefix;
    this.#suffix = suffix;
    this.choice = event.choice;
  }
}

/** Whether the content stands between two texts. A member may stand in a frame twice, of which the last one counts. */
function isContentBetween(prefix: string, suffix: string): boolean {
  try {
    return onlyContent(JSON.parse(prefix + PROBE + suffix)) === PROBE;
  } catch {
    // The first of two is no text.
    return false;
  }
}

/** The content of a chunk whose only choice adds nothing else, and beside which nothing is told. */
function onlyContent(chunk: unknown): string | undefined {
  if (!isRecord(chunk) || usagesIn(chunk).length > 0 || pagesBeside(chunk) !== undefined) return undefined;
  const { choices } = chunk;
  const choice = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  if (!isRecord(choice) || !isRecord(choice["delta"]) || choice["finish_reason"] != null) return undefined;
  const { content, ...others } = choice["delta"];
  return typeof content === "string" && Object.keys(others).length === 0 ? content : undefined;
}
