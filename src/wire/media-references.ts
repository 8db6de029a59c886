// Finds the images and files to which a request refers, by ids of uploaded files and by URLs, and replaces them in the client's
// body. It knows their forms in all formats, so that relayed and translated requests are treated alike.

import { isRecord } from "../base/json-object.ts";
import type { Fields } from "./check.ts";

/** The bytes of an image or document, in base64. */
export interface Media {
  mediaType: string;
  data: string;
}

/** The references in a body. */
export interface MediaReferences {
  fileIds: Set<string>;
  /** The URLs, of images only. */
  urls: Set<string>;
}

/** Finds the content of a reference; undefined leaves the reference unchanged. */
export interface MediaSources {
  file?(fileId: string): Media | undefined;
  url?(url: string): Media | undefined;
}

/** The members that contain turns, and the members of turns that contain parts. */
const TOP = ["messages", "input"] as const;
const NESTED = ["content", "output"] as const;
/** Parts are in turns and in tool results; in a valid body, none is nested deeper. */
const DEPTH_MAX = 6;

/** The files and image URLs to which the body's messages refer. */
export function mediaReferences(body: Fields): MediaReferences {
  const found: MediaReferences = { fileIds: new Set(), urls: new Set() };
  replaceMedia(body, {
    file: (id) => {
      found.fileIds.add(id);
      return undefined;
    },
    url: (url) => {
      found.urls.add(url);
      return undefined;
    },
  });
  return found;
}

/** The body with references replaced by their content; the same object if nothing was replaced. */
export function replaceMedia(body: Fields, sources: MediaSources): Fields {
  let out = body;
  for (const key of TOP) {
    const value = body[key];
    if (!Array.isArray(value)) continue;
    const replaced = walk(value, sources, 0);
    if (replaced !== value) out = { ...out, [key]: replaced };
  }
  return out;
}

function walk(value: unknown, sources: MediaSources, depth: number): unknown {
  if (depth > DEPTH_MAX) return value;
  if (Array.isArray(value)) {
    let changed: unknown[] | undefined;
    for (let i = 0; i < value.length; i++) {
      const before: unknown = value[i];
      if (typeof before !== "object" || before === null) continue;
      const after = walk(before, sources, depth + 1);
      if (after === before) continue;
      changed ??= [...value];
      changed[i] = after;
    }
    return changed ?? value;
  }
  if (!isRecord(value)) return value;
  const part = replacePart(value, sources);
  if (part !== undefined) return part;
  let out = value;
  for (const key of NESTED) {
    const inner = value[key];
    if (typeof inner !== "object" || inner === null) continue;
    const replaced = walk(inner, sources, depth + 1);
    if (replaced !== inner) out = { ...out, [key]: replaced };
  }
  return out;
}

function replacePart(part: Fields, sources: MediaSources): Fields | undefined {
  switch (part["type"]) {
    case "image_url":
      return chatImage(part, sources);
    case "input_image":
      return responsesImage(part, sources);
    case "file":
      return chatFile(part, sources);
    case "input_file":
      return responsesFile(part, sources);
    case "image":
    case "document":
      return messagesMedia(part, sources);
    default:
      return undefined;
  }
}

/** Where chat completions and responses expect a URL, they also accept the id of an uploaded file. */
function fromUrl(url: unknown, sources: MediaSources): string | undefined {
  if (typeof url !== "string") return undefined;
  if (url.startsWith("file-")) return dataUrl(sources.file?.(url));
  return /^https?:/i.test(url.slice(0, 6)) ? dataUrl(sources.url?.(url)) : undefined;
}

function dataUrl(media: Media | undefined): string | undefined {
  return media === undefined ? undefined : `data:${media.mediaType};base64,${media.data}`;
}

function chatImage(part: Fields, sources: MediaSources): Fields | undefined {
  const image = part["image_url"];
  const url = fromUrl(isRecord(image) ? image["url"] : image, sources);
  return url === undefined ? undefined : { ...part, image_url: isRecord(image) ? { ...image, url } : url };
}

function responsesImage(part: Fields, sources: MediaSources): Fields | undefined {
  const id = part["file_id"];
  if (typeof id !== "string" || id === "") return chatImage(part, sources);
  const url = dataUrl(sources.file?.(id));
  if (url === undefined) return undefined;
  const { file_id: _id, ...rest } = part;
  return { ...rest, image_url: url };
}

function chatFile(part: Fields, sources: MediaSources): Fields | undefined {
  const file = part["file"];
  if (!isRecord(file) || typeof file["file_id"] !== "string") return undefined;
  const url = dataUrl(sources.file?.(file["file_id"]));
  return url === undefined ? undefined : { type: "image_url", image_url: { url } };
}

function responsesFile(part: Fields, sources: MediaSources): Fields | undefined {
  if (typeof part["file_id"] !== "string") return undefined;
  const url = dataUrl(sources.file?.(part["file_id"]));
  return url === undefined ? undefined : { type: "input_image", image_url: url };
}

function messagesMedia(part: Fields, sources: MediaSources): Fields | undefined {
  const source = part["source"];
  if (!isRecord(source)) return undefined;
  let media: Media | undefined;
  if (source["type"] === "file" && typeof source["file_id"] === "string") media = sources.file?.(source["file_id"]);
  else if (part["type"] === "image" && source["type"] === "url" && typeof source["url"] === "string") {
    media = sources.url?.(source["url"]);
  }
  if (media === undefined) return undefined;
  return { ...part, type: "image", source: { type: "base64", media_type: media.mediaType, data: media.data } };
}
