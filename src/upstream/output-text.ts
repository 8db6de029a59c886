// The output of an answer, which is kept in case the upstream reports no usage. Its length is limited, and appending is cheap.

import type { ChatEvent, Usage } from "../chat/event.ts";

/** Text beyond this length is dropped; counts of longer answers are extrapolated. */
const CHARS_KEPT_MAX = 512 * 1024;
/** So many pieces, and so many strings that were made of them, become one string. */
const JOINED_PIECES = 64;
const JOINED_STRINGS = 16;
/** Texts up to this length are copied one character after another, so that they need no string of their own. */
const COPIED_CHARS_MAX = 256;
/** How many characters are copied before they become a string. */
const ROOM_CHARS = 960;
/** Characters up to this one take one byte. */
const BYTE_MAX = 0xff;

/** Collects output text. */
export class OutputText {
  readonly #joined: string[] = [];
  #strings: string[] = [];
  readonly #pieces: string[] = [];
  #bytes: Uint8Array | undefined;
  /** In place of the bytes, from the first character on that needs two. */
  #units: Uint16Array | undefined;
  /** How many characters were copied into either. */
  #copied = 0;
  #chars = 0;
  #pictures = 0;

  add(piece: string): void {
    const isFull = this.#chars >= CHARS_KEPT_MAX;
    this.#chars += piece.length;
    if (!isFull && this.#pieces.push(piece) >= JOINED_PIECES) this.#keep(this.#takePieces());
  }

  /** Adds ASCII text that stands between two positions of bytes, as all that arrived at once. */
  addAscii(source: Uint8Array, from: number, to: number): void {
    const length = to - from;
    const isSimple = this.#pieces.length === 0 && this.#units === undefined && length <= COPIED_CHARS_MAX;
    if (!isSimple || this.#chars >= CHARS_KEPT_MAX) {
      this.add(Buffer.from(source.buffer, source.byteOffset + from, length).toString("latin1"));
      this.own();
      return;
    }
    this.#chars += length;
    const bytes = this.#roomFor(length);
    const start = this.#copied;
    for (let at = 0; at < length; at++) bytes[start + at] = source[from + at] as number;
    this.#copied = start + length;
  }

  /**
   * Called when what arrived at once was added. The pieces are cut from it, and each would keep all of it: until the next garbage
   * collections take it for something that lasts.
   */
  own(): void {
    if (this.#pieces.length === 0) return;
    const text = this.#takePieces();
    if (text.length > COPIED_CHARS_MAX) this.#keep(text);
    else if (this.#units !== undefined || !this.#copyBytes(text)) this.#copyUnits(text);
  }

  #takePieces(): string {
    const pieces = this.#pieces;
    const text = pieces.length === 1 ? (pieces[0] as string) : pieces.join("");
    pieces.length = 0;
    return text;
  }

  /** Returns false if a character needs two bytes; nothing is copied then. */
  #copyBytes(text: string): boolean {
    const bytes = this.#roomFor(text.length);
    const start = this.#copied;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code > BYTE_MAX) return false;
      bytes[start + at] = code;
    }
    this.#copied = start + text.length;
    return true;
  }

  /** The bytes, with room after those that were copied. */
  #roomFor(length: number): Uint8Array {
    if (this.#copied + length > ROOM_CHARS) this.#flush();
    this.#bytes ??= new Uint8Array(ROOM_CHARS);
    return this.#bytes;
  }

  #copyUnits(text: string): void {
    if (this.#units === undefined || this.#copied + text.length > ROOM_CHARS) this.#flush();
    this.#bytes = undefined;
    this.#units ??= new Uint16Array(ROOM_CHARS);
    const units = this.#units;
    const start = this.#copied;
    for (let at = 0; at < text.length; at++) units[start + at] = text.charCodeAt(at);
    this.#copied = start + text.length;
  }

  /** Makes a string of what was copied. */
  #flush(): void {
    const text = this.#copiedText();
    this.#copied = 0;
    if (text !== "") this.#keep(text);
  }

  #copiedText(): string {
    const copied = this.#units ?? this.#bytes;
    if (copied === undefined || this.#copied === 0) return "";
    const bytes = Buffer.from(copied.buffer, 0, this.#copied * copied.BYTES_PER_ELEMENT);
    return bytes.toString(this.#units === undefined ? "latin1" : "utf16le");
  }

  #keep(text: string): void {
    // What was copied before comes first.
    if (this.#copied > 0) this.#flush();
    if (this.#strings.push(text) < JOINED_STRINGS) return;
    this.#joined.push(this.#strings.join(""));
    this.#strings = [];
  }

  /** Adds an event of the answer, unless it is a delta, whose text is added on its own. */
  addEvent(event: ChatEvent): void {
    if (event.type === "tool-start") this.add(event.name);
    else if (event.type === "image" || (event.type === "opaque" && isPicture(event.value))) this.addPictures(1);
  }

  addPictures(count: number): void {
    this.#pictures += count;
  }

  get pictures(): number {
    return this.#pictures;
  }

  /** Grows with everything that is added. */
  get written(): number {
    return this.#chars + this.#pictures;
  }

  /** The number of all characters that were added, including dropped ones. */
  get chars(): number {
    return this.#chars;
  }

  /** The kept text. */
  toString(): string {
    return [...this.#joined, ...this.#strings, this.#copiedText(), ...this.#pieces].join("");
  }
}

/** Whether a block of an answer is a picture: an item of the Responses API, or a part of Gemini's protocol. */
export function isPicture(block: Readonly<Record<string, unknown>>): boolean {
  const { type, inlineData } = block as { type?: unknown; inlineData?: { mimeType?: unknown } | null };
  return type === "image_generation_call" || String(inlineData?.mimeType ?? "").startsWith("image/");
}

/** The output of a whole answer. */
export function writtenOutput(events: readonly ChatEvent[]): OutputText {
  const output = new OutputText();
  for (const event of events) {
    if ("text" in event) output.add(event.text);
    else output.addEvent(event);
  }
  return output;
}

/** The events of a whole answer with its settled usage. */
export function withUsage(events: readonly ChatEvent[], usage: Usage): ChatEvent[] {
  let last = events.length - 1;
  while (last >= 0 && events[last]?.type !== "finish") last--;
  const finish = events[last];
  if (finish?.type !== "finish" || finish.usage === usage) return events as ChatEvent[];
  return events.with(last, { ...finish, usage });
}
