// Reads media by the type of their data. Clients put documents, texts and audio where their format has images, so the type of the
// data decides what a part is, and not the name of its member.

import { lookUp } from "../base/look-up.ts";
import type { FilePart, ImagePart, MediaSource, UserContent } from "../chat/request.ts";
import { expectFields, type Fields, maybe } from "./check.ts";

const DATA_URL = /^data:([^;,]*)(?:;[^;,]+)*;base64,/i;

/** The content of a base64 data URL; undefined for other URLs. */
export function readDataUrl(url: string): Extract<MediaSource, { kind: "base64" }> | undefined {
  const match = DATA_URL.exec(url.slice(0, 256));
  if (match === null) return undefined;
  const mediaType = match[1]?.toLowerCase() || UNKNOWN;
  return { kind: "base64", mediaType, data: url.slice(match[0].length) };
}

/** OpenAI's cache marker of a part. Its mode has only one value. */
export function readBreakpoint(part: Fields, path: string): Fields | undefined {
  const mark = maybe(part, "prompt_cache_breakpoint", expectFields, path);
  return mark === undefined ? undefined : { mode: "explicit", ...mark };
}

/** The type of data without one. */
const UNKNOWN = "application/octet-stream";
/** The words of chat completions for audio formats whose media types differ. */
const AUDIO_FORMATS: Readonly<Record<string, string>> = { mpeg: "mp3", "x-wav": "wav", wave: "wav", "vnd.wave": "wav" };

/** The part as its data says. Sources without data, and data of an unknown type, stay what they are. */
export function typedPart(part: UserContent): UserContent {
  const source = dataOf(part);
  if (source === undefined) return part;
  const [kind, subtype = ""] = source.mediaType.split("/");
  if (kind !== "audio") return typedResult(part);
  return { type: "audio", data: source.data, format: lookUp(AUDIO_FORMATS, subtype) ?? subtype };
}

/** The same for a part of a tool's result, in which audio is a file. */
export function typedResult<P extends UserContent>(part: P): P | ImagePart | FilePart {
  const source = dataOf(part);
  if (source === undefined) return part;
  const { cacheControl } = part as ImagePart | FilePart;
  const marks = cacheControl === undefined ? {} : { cacheControl };
  const kind = source.mediaType.split("/")[0];
  const isImage = part.type === "image";
  if (isImage === (kind === "image")) return part;
  if (!isImage) return { type: "image", source, ...marks };
  if (kind !== "text") return { type: "file", source, ...marks };
  const text = Buffer.from(source.data, "base64").toString("utf-8");
  return { type: "file", source: { kind: "text", text }, ...marks };
}

/** The data of a part, if their type is known. */
function dataOf(part: UserContent): Extract<MediaSource, { kind: "base64" }> | undefined {
  if (part.type !== "image" && part.type !== "file") return undefined;
  const { source } = part;
  return source.kind === "base64" && source.mediaType !== UNKNOWN ? source : undefined;
}
