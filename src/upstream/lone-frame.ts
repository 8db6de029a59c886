// Most reads of a slow stream bring one frame, which repeats the last one with another text. Such a frame is compared and rewritten
// as bytes: making texts of it would take longer than everything else that is done with it.

import type { OutputText } from "./output-text.ts";

/** Longer texts go the usual way: each stream has room for one. */
const TEXT_BYTES_MAX = 256;
const [SPACE, QUOTE, BACKSLASH, ASCII_END] = [32, 34, 92, 128];

/** What stands around the text of a frame. */
export interface FrameSurroundings {
  readonly before: string;
  readonly after: string;
}

/** Frames that differ in their text alone, as the upstream sends them and as the client gets them. */
export class LoneFrames {
  readonly #before: Buffer;
  readonly #after: Buffer;
  /** Begins with what the client gets before the text. */
  readonly #ours: Buffer;
  readonly #ourTextAt: number;
  readonly #ourAfter: Buffer;

  constructor(theirs: FrameSurroundings, ours: FrameSurroundings) {
    this.#before = Buffer.from(theirs.before);
    this.#after = Buffer.from(theirs.after);
    this.#ourAfter = Buffer.from(ours.after);
    const before = Buffer.from(ours.before);
    this.#ourTextAt = before.length;
    this.#ours = Buffer.allocUnsafeSlow(before.length + TEXT_BYTES_MAX + this.#ourAfter.length);
    before.copy(this.#ours);
  }

  /** The length of what stands around the texts of the upstream's frames. */
  get aroundBytes(): number {
    return this.#before.length + this.#after.length;
  }

  /**
   * The frame for the client, if the bytes are one of these frames with some plain text in ASCII; the bytes are valid until the next call.
   * Its text is added to the output.
   */
  rewritten(bytes: Uint8Array, from: number, to: number, output: OutputText): Uint8Array | undefined {
    const before = this.#before;
    const after = this.#after;
    const textFrom = from + before.length;
    const textTo = to - after.length;
    if (textTo <= textFrom || textTo - textFrom > TEXT_BYTES_MAX) return undefined;
    // The end first: if frames differ in more than their text, it is mostly there.
    for (let at = 0; at < after.length; at++) if (bytes[textTo + at] !== after[at]) return undefined;
    for (let at = 0; at < before.length; at++) if (bytes[from + at] !== before[at]) return undefined;
    const ours = this.#ours;
    let end = this.#ourTextAt;
    for (let at = textFrom; at < textTo; at++) {
      const byte = bytes[at] as number;
      if (byte < SPACE || byte === QUOTE || byte === BACKSLASH || byte >= ASCII_END) return undefined;
      ours[end++] = byte;
    }
    const ourAfter = this.#ourAfter;
    for (let at = 0; at < ourAfter.length; at++) ours[end++] = ourAfter[at] as number;
    output.addAscii(bytes, textFrom, textTo);
    return ours.subarray(0, end);
  }
}
