// What surrounds the text of a stream's plain frames. It hardly ever changes within a stream, so that such frames need not be parsed.

import { LoneFrames } from "../../lone-frame.ts";
import { contentSpan } from "../relay-frames.ts";

/** The text around the content of a plain text frame, as the upstream sends it and as the client gets it. */
export interface TextTemplate {
  readonly prefix: string;
  readonly suffix: string;
  readonly ourPrefix: string;
  readonly ourSuffix: string;
  /** What stands between the contents of two such frames. */
  readonly between: string;
  readonly ourBetween: string;
  readonly same: boolean;
  /** The same for frames that arrive alone; made once one did. */
  lone?: LoneFrames;
}

/** The template of a frame, of which the data is known as the upstream sent it and as the client gets it. */
export function templateOf(data: string, spliced: string): TextTemplate | undefined {
  const theirs = contentSpan(data);
  const ours = contentSpan(spliced);
  if (theirs === undefined || ours === undefined) return undefined;
  const prefix = `data: ${data.slice(0, theirs.start)}`;
  const suffix = `${data.slice(theirs.end)}\n\n`;
  const ourPrefix = `data: ${spliced.slice(0, ours.start)}`;
  const ourSuffix = `${spliced.slice(ours.end)}\n\n`;
  const same = prefix === ourPrefix && suffix === ourSuffix;
  return { prefix, suffix, ourPrefix, ourSuffix, between: suffix + prefix, ourBetween: ourSuffix + ourPrefix, same };
}

/** Prepares a template for frames that arrive alone. */
export function prepareLone(template: TextTemplate): void {
  const { prefix, suffix, ourPrefix, ourSuffix } = template;
  template.lone ??= new LoneFrames({ before: prefix, after: suffix }, { before: ourPrefix, after: ourSuffix });
}

/** The position of the quote that ends a text within a frame; -1 if the frame ends before it. Texts of chunks are short. */
export function textEnd(block: string, from: number): number {
  for (let at = from; at < block.length; at++) {
    const code = block.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
    else if (code === LINE_FEED && block.charCodeAt(at + 1) === LINE_FEED) return -1;
  }
  return -1;
}

/**
 * The text that stands in a frame like this. What JSON does not allow is taken as it is: some servers write such escapes and control
 * characters, and clients read them. Undefined if the text does not end before an empty line, where the frame ends.
 */
export function writtenText(raw: string): string | undefined {
  if (!raw.includes("\\")) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw.includes("\n\n") ? undefined : raw;
  }
}

const [QUOTE, BACKSLASH, LINE_FEED] = [34, 92, 10];
