// Finds images in a client's body, in all formats and wherever they may be: in parts, tool results, documents, search results,
// screenshots, results of tools that a provider ran. It reads the body as it was sent, since a part that the gateway does not know
// may contain an image too.

import { isRecord } from "../base/json-object.ts";
import type { Fields } from "./check.ts";

/** Ids of files that were uploaded to this gateway, all of which are images. */
export const UPLOADED_ID = /^file-[0-9a-f]{32}$/;

/** The top-level members that a model reads. */
const TOP = ["messages", "input", "system", "prompt", "contents"] as const;

/**
 * Members that are not searched: arguments of calls are text that a model wrote, the action of a search also names the pages that
 * were found, and schemas describe values that need not exist.
 */
const SKIPPED: ReadonlySet<string> = new Set([
  "input",
  "arguments",
  "args",
  "action",
  "tools",
  "parameters",
  "input_schema",
  "schema",
  "metadata",
  "cache_control",
]);

/** Members whose texts a model reads as text, even if the text is a data URL. */
const TEXTS: ReadonlySet<string> = new Set([
  "text",
  "content",
  "output",
  "arguments",
  "input",
  "thinking",
  "refusal",
  "reasoning",
  "reasoning_content",
  "code",
  "logs",
  "stdout",
  "stderr",
  "diff",
]);

/** The types of parts and items that are images: `image`, `input_image`, `image_url`, `image_generation_call` … */
const IMAGE_TYPE = /(?:^|_)images?(?:_|$)|^computer_screenshot$/;
const IMAGE_MEDIA = /^\s*image\//i;
const IMAGE_DATA_URL = /^\s*data:\s*image\//i;
const IMAGE_NAME = /^[^?#]*\.(?:png|jpe?g|gif|webp|bmp|tiff?|heic|heif|avif|svg)(?:[?#]|$)/i;
/** How the bytes of a PNG, JPEG, GIF and WebP begin in base64. */
const IMAGE_BASE64 = /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR.{7}RUJQ)/;
/** Enough of a text to tell what it is. */
const HEAD = 2048;

/** The path of the first image in a body; undefined if there is none. */
export function firstImage(body: Fields): string | undefined {
  if (isImageMember("images", body["images"])) return "images[0]";
  for (const name of TOP) {
    const value = body[name];
    const found = typeof value === "object" ? imageWithin(value) : undefined;
    if (found !== undefined) return name + found;
  }
  return undefined;
}

/** The path of an image below a value, such as `[0].content[1]`. The depth of a body is limited where it is read. */
function imageWithin(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const element: unknown = value[i];
      const found = typeof element === "object" ? imageWithin(element) : undefined;
      if (found !== undefined) return `[${i}]${found}`;
    }
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  if (isImage(value)) return "";
  for (const name in value) {
    const member = value[name];
    if (typeof member !== "object" || member === null || SKIPPED.has(name)) continue;
    const found = imageWithin(member);
    if (found !== undefined) return `.${name}${found}`;
  }
  return undefined;
}

function isImage(part: Fields): boolean {
  const { type } = part;
  if (typeof type === "string" && IMAGE_TYPE.test(type)) {
    // A generated image that failed has no content.
    return type !== "image_generation_call" || (part["result"] !== null && part["result"] !== "");
  }
  for (const name in part) {
    const value = part[name];
    if (typeof value === "string" ? isImageText(name, value, type) : isImageMember(name, value)) return true;
  }
  return false;
}

function isImageText(name: string, value: string, type: unknown): boolean {
  switch (name) {
    case "text":
    case "type":
    case "role":
      return false;
    case "media_type":
    case "mediaType":
    case "mime_type":
    case "mimeType":
      return IMAGE_MEDIA.test(value);
    case "file_type":
      return value === "image";
    case "image_url":
      return value !== "";
    case "file_id":
      return UPLOADED_ID.test(value);
    case "file_url":
    case "file_uri":
    case "fileUri":
      return IMAGE_DATA_URL.test(value) || IMAGE_NAME.test(value.slice(0, HEAD));
    case "url":
      // Other objects with a URL are pages and citations.
      return IMAGE_DATA_URL.test(value) || (type === "url" && IMAGE_NAME.test(value.slice(0, HEAD)));
    case "data":
      return IMAGE_DATA_URL.test(value) || (type === "base64" && IMAGE_BASE64.test(value));
    case "file_data":
      return IMAGE_DATA_URL.test(value) || IMAGE_BASE64.test(value);
    default:
      return !TEXTS.has(name) && IMAGE_DATA_URL.test(value);
  }
}

function isImageMember(name: string, value: unknown): boolean {
  if (name === "image_url") return isRecord(value);
  return name === "images" && Array.isArray(value) && value.length > 0;
}
