// Nearly all frames of a stream repeat the last one with another text. They are recognised by the text around it, and not parsed.

import { isRecord } from "../base/json-object.ts";
import { parseFrame } from "../base/sse.ts";
import type { ChatEvent, ReasoningDelta, TextDelta } from "../chat/event.ts";
import type { EventReader, PlainReading } from "./dialect.ts";
import { type FrameSurroundings, LoneFrames } from "./lone-frame.ts";
import type { OutputText } from "./output-text.ts";

/** How often frames that are not like the last one are learned in a row, before frames are only parsed. */
const LEARNED_MAX = 16;
/** Longer frames are only parsed: of each stream, a few times what was learned is held in memory. */
const LEARNED_CHARS_MAX = 64 * 1024;
/** How many places of a frame are tried that hold the same text. */
const PLACES_MAX = 4;
const NUMBER_DIGITS_MAX = 9;
const [QUOTE, BACKSLASH, SPACE, ZERO, NINE, LINE_FEED] = [34, 92, 32, 48, 57, 10];
const PROBE = "another text";

/** What stands between two constant parts of a frame. */
type Gap = "text" | "number" | "word";

/** What takes the events of a stream. */
export interface EventSink {
  /** Takes the events of a frame. The list is used again afterwards. */
  take(events: readonly ChatEvent[]): void;
  /** Takes an event that repeats the last one with another text. `isPlain`: JSON holds the text as it is, without escapes. */
  repeat(event: TextDelta | ReasoningDelta, text: string, isPlain: boolean): void;
  /** What it would write around the text of a further such event, if that is all it does with one. */
  around?(event: TextDelta): FrameSurroundings | undefined;
  /** Whether nothing more is taken. */
  readonly isOver: boolean;
}

/** Gives the events of blocks of whole frames to a sink. */
export class StreamReader {
  readonly #reader: EventReader;
  readonly #sink: EventSink;
  readonly #plain: PlainFrames | undefined;
  readonly #events: ChatEvent[] = [];
  /** Frames like the last one that arrive alone, until another frame is read. */
  #lone: LoneFrames | undefined;

  constructor(reader: EventReader, sink: EventSink) {
    this.#reader = reader;
    this.#sink = sink;
    this.#plain = reader.plain && new PlainFrames(reader.plain);
  }

  push(block: string): void {
    const plain = this.#plain;
    const sink = this.#sink;
    let at = 0;
    let chars = 0;
    let lastAt = 0;
    while (at < block.length && !sink.isOver) {
      const event = plain?.event;
      const end = event === undefined ? -1 : (plain as PlainFrames).endOf(block, at);
      const text = end < 0 ? undefined : (plain as PlainFrames).textIn(block);
      if (event !== undefined && text !== undefined) {
        sink.repeat(event, text, plain?.isSpecial !== true);
        if (at === 0 && end === block.length) this.#lone ??= this.#loneFrames(event);
        chars += text.length;
        lastAt = at;
        at = end;
        continue;
      }
      if (chars > 0) plain?.passed(chars, block.slice(lastAt, at));
      chars = 0;
      at = this.#read(block, at);
    }
    if (chars > 0) plain?.passed(chars, block.slice(lastAt, at));
  }

  #loneFrames(event: TextDelta | ReasoningDelta): LoneFrames | undefined {
    const theirs = this.#plain?.surroundings;
    const ours = event.type === "text-delta" ? this.#sink.around?.(event) : undefined;
    return theirs === undefined || ours === undefined ? undefined : new LoneFrames(theirs, ours);
  }

  /** What the sink would write of a frame that arrived alone, if it is like the last one. See `FrameRelay.rewritten`. */
  rewritten(bytes: Uint8Array, from: number, to: number, output: OutputText): Uint8Array | undefined {
    const lone = this.#lone;
    const written = lone?.rewritten(bytes, from, to, output);
    if (written !== undefined) this.#plain?.passed(to - from - (lone as LoneFrames).aroundBytes, "");
    return written;
  }

  /** Reads the frame at a position, and returns its end. */
  #read(block: string, at: number): number {
    this.#lone = undefined;
    const found = block.indexOf("\n\n", at);
    const end = found < 0 ? block.length : found;
    const frame = parseFrame(block.slice(at, end));
    if (frame === undefined) return end + 2;
    const events = this.#events;
    this.#reader.push(frame, events);
    this.#plain?.learn(block.slice(at, end), events);
    this.#sink.take(events);
    events.length = 0;
    return end + 2;
  }

  end(): void {
    this.#lone = undefined;
    this.#reader.end(this.#events);
    this.#sink.take(this.#events);
    this.#events.length = 0;
  }
}

/** The frames of a stream that are like the one that was read last. */
class PlainFrames {
  readonly #reading: PlainReading;
  #constants: readonly string[] = [];
  #gaps: readonly Gap[] = [];
  #event: TextDelta | ReasoningDelta | undefined;
  #learned = 0;
  #from = 0;
  #to = 0;
  #isSpecial = false;

  constructor(reading: PlainReading) {
    this.#reading = reading;
  }

  /** The event of the frame that was learned; undefined if there is none or the reader has read another frame since then. */
  get event(): TextDelta | ReasoningDelta | undefined {
    return this.#event;
  }

  /** What stands around the text of the frames that were learned, if nothing else varies and no reader needs the last of them. */
  get surroundings(): FrameSurroundings | undefined {
    const [before, after, ...others] = this.#constants;
    const isPlain = this.#reading.varying === undefined && others.length === 0;
    return isPlain && before !== undefined && after !== undefined ? { before, after } : undefined;
  }

  /** Whether the text of the frame that was found last has escapes, or characters that JSON does not allow in strings. */
  get isSpecial(): boolean {
    return this.#isSpecial;
  }

  /** The text of the frame that was found last; undefined if it is no valid JSON. */
  textIn(block: string): string | undefined {
    const text = block.slice(this.#from, this.#to);
    if (!this.#isSpecial) return text;
    try {
      return JSON.parse(`"${text}"`) as string;
    } catch {
      return undefined;
    }
  }

  /** The end of the frame at a position, if it is like the one that was learned; otherwise -1. */
  endOf(block: string, at: number): number {
    const constants = this.#constants;
    const gaps = this.#gaps;
    let next = at;
    for (let i = 0; i < gaps.length; i++) {
      const constant = constants[i] as string;
      if (!block.startsWith(constant, next)) return -1;
      next += constant.length;
      const gap = gaps[i];
      if (gap === "text") {
        this.#from = next;
        next = this.#textEnd(block, next);
        this.#to = next;
      } else next = gap === "number" ? numberEnd(block, next) : wordEnd(block, next);
      if (next < 0) return -1;
    }
    const last = constants[gaps.length] as string;
    return block.startsWith(last, next) ? next + last.length : -1;
  }

  /** The end of a text of at least one character. */
  #textEnd(block: string, from: number): number {
    let isSpecial = false;
    for (let at = from; at < block.length; at++) {
      const code = block.charCodeAt(at);
      if (code === QUOTE) {
        this.#isSpecial = isSpecial;
        return at === from ? -1 : at;
      }
      if (code === BACKSLASH) {
        isSpecial = true;
        at++;
      } else if (code === LINE_FEED) return -1;
      else if (code < SPACE) isSpecial = true;
    }
    return -1;
  }

  /** Learns a frame, without the empty line at its end, with the events that the reader made of it. */
  learn(frame: string, events: readonly ChatEvent[]): void {
    this.#event = undefined;
    const event = events.length === 1 ? events[0] : undefined;
    if (event === undefined || this.#learned >= LEARNED_MAX || frame.length > LEARNED_CHARS_MAX) return;
    if (event.type !== "text-delta" && event.type !== "reasoning-delta") return;
    if ((event.type === "text-delta" && event.logprobs !== undefined) || frame.includes(PROBE)) return;
    this.#learned++;
    const written = JSON.stringify(event.text).slice(1, -1);
    let at = -1;
    for (let place = 0; place < PLACES_MAX; place++) {
      at = frame.indexOf(`"${written}"`, at + 1);
      if (at < 0) return;
      if (!this.#isTextBetween(frame.slice(0, at + 1), frame.slice(at + 1 + written.length))) continue;
      this.#event = event;
      return;
    }
  }

  /** Whether the reader would read another text between these two texts as the same delta. A member may stand in a frame twice. */
  #isTextBetween(before: string, after: string): boolean {
    const { varying } = this.#reading;
    const [first, last] = [partsOf(before, varying), partsOf(after, varying)];
    const constants = [...first.constants, ...last.constants];
    const gaps: readonly Gap[] = [...first.gaps, "text", ...last.gaps];
    const probed = constants.map((constant, at) => constant + probeOf(gaps[at])).join("");
    const data = parseFrame(probed)?.data;
    if (data === undefined || this.#textOf(data) !== PROBE) return false;
    constants.push(`${constants.pop()}\n\n`);
    this.#constants = constants;
    this.#gaps = gaps;
    return true;
  }

  #textOf(data: string): string | undefined {
    try {
      const value: unknown = JSON.parse(data);
      return isRecord(value) ? this.#reading.textOf(value) : undefined;
    } catch {
      // The first of two members is no text.
      return undefined;
    }
  }

  /** Frames that are like it were passed. */
  passed(chars: number, last: string): void {
    this.#learned = 0;
    this.#reading.passed(chars, last);
  }
}

function probeOf(gap: Gap | undefined): string {
  if (gap === undefined) return "";
  return gap === "text" ? PROBE : gap === "number" ? "7" : "probe";
}

/** The constant parts of a text, and what varies between them. */
function partsOf(text: string, varying: RegExp | undefined): { constants: string[]; gaps: Gap[] } {
  const constants: string[] = [];
  const gaps: Gap[] = [];
  let at = 0;
  for (const found of varying === undefined ? [] : text.matchAll(varying)) {
    const from = found.index + found[0].length;
    const isWord = text.charCodeAt(from) === QUOTE;
    const start = isWord ? from + 1 : from;
    const end = isWord ? wordEnd(text, start) : numberEnd(text, start);
    if (end < 0) continue;
    constants.push(text.slice(at, start));
    gaps.push(isWord ? "word" : "number");
    at = end;
  }
  constants.push(text.slice(at));
  return { constants, gaps };
}

/** The end of a whole number above zero; -1 if there is none. */
function numberEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < ZERO || code > NINE || (code === ZERO && at === from)) break;
  }
  return at === from || at - from > NUMBER_DIGITS_MAX ? -1 : at;
}

/** The end of a string without escapes. */
function wordEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH || code < SPACE) return -1;
  }
  return -1;
}
