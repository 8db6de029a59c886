// The tags of a request, by which reports group it: the header `x-sallyport-tags`, or a list in `metadata.tags`. They are the
// gateway's own matter and not sent to providers.

import { ApiError } from "../../base/errors.ts";
import { editJson, editValue } from "../../base/json-edit.ts";
import { isRecord } from "../../base/json-object.ts";
import { type BodyText, editedText } from "../../base/long-json.ts";
import type { Exchange } from "../../http/exchange.ts";

const TAGS_HEADER = "x-sallyport-tags";
const TAGS_MAX = 10;
const CHARS_MAX = 64;

type Tagged = Pick<Exchange, "tags" | "log">;

/** Reads the tags of the header, which are separated by commas. Throws 400. */
export function readTagsHeader(request: Request, exchange: Tagged): void {
  const text = request.headers.get(TAGS_HEADER);
  if (text !== null) addTags(exchange, text.split(","), TAGS_HEADER);
}

/** Takes the list `metadata.tags` out of a body; the same body for requests without one. Throws 400. */
export function withoutTags<Read extends { text: BodyText; body: Record<string, unknown> }>(
  read: Read,
  exchange: Tagged,
): Read {
  const { metadata } = read.body;
  if (!isRecord(metadata) || !Array.isArray(metadata["tags"])) return read;
  addTags(exchange, metadata["tags"], "metadata.tags");
  return untagged(read, Object.keys(metadata).length === 1);
}

function untagged<Read extends { text: BodyText; body: Record<string, unknown> }>(read: Read, isAll: boolean): Read {
  const edits = [{ path: isAll ? ["metadata"] : ["metadata", "tags"] }];
  return {
    ...read,
    text: editedText(read.text, (text) => editJson(text, edits)),
    body: editValue(read.body, edits),
  };
}

function addTags(exchange: Tagged, given: readonly unknown[], param: string): void {
  const tags = new Set(exchange.tags);
  for (const one of given) {
    const tag = typeof one === "string" ? one.trim() : undefined;
    if (tag === "") continue;
    if (tag === undefined || tag.length > CHARS_MAX || /\p{Cc}/u.test(tag)) {
      const message = `Invalid '${param}': expected tags of at most ${CHARS_MAX} characters, without control characters.`;
      throw new ApiError("invalid_request", message, { param });
    }
    tags.add(tag);
  }
  if (tags.size > TAGS_MAX) {
    const message = `Invalid '${param}': expected at most ${TAGS_MAX} tags, got ${tags.size}.`;
    throw new ApiError("invalid_request", message, { param });
  }
  if (tags.size === 0) return;
  exchange.tags = [...tags];
  exchange.log["tags"] = exchange.tags.join(",");
}
