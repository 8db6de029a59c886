// Inserts the images and files of a request. Uploaded ones become base64 before routing. URLs stay URLs if the provider accepts
// them; otherwise they are fetched, only through the address guard.

import { ApiError } from "../../../base/errors.ts";
import { BlockedAddress } from "../../../net/address-guard.ts";
import { FetchError, type GuardedFetch } from "../../../net/fetch.ts";
import type { FileStore } from "../../../store/work/files.ts";
import type { Provider } from "../../../upstream/provider.ts";
import { locateText } from "../../../wire/client-names.ts";
import { UPLOADED_ID } from "../../../wire/image-inputs.ts";
import { type Media, mediaReferences, replaceMedia } from "../../../wire/media-references.ts";
import type { AdmittedRequest } from "../../centre/chat-exchange.ts";
import { fileNotFound } from "../../endpoints/files/uploads.ts";
import { IMAGE_BYTES_MAX, sniffImage } from "./images.ts";

/** A parsed JSON object. */
type Fields = Readonly<Record<string, unknown>>;

/** Maximum number of images in one request, which is also the maximum of the model with the largest context. */
const IMAGES_MAX = 100;
const FETCH_TIMEOUT_MS = 15_000;
/** Maximum bytes of all images of one request, so that a few links cannot fill the memory. */
const FETCHED_BYTES_MAX = 50 * 1024 * 1024;

/**
 * The body with the content of uploaded files; the same object if it names none. Throws 404 `file_not_found`, with the path in
 * `sent`, the client's own body.
 */
export async function withFiles(
  store: FileStore,
  accountId: string,
  body: Fields,
  sent: Fields = body,
): Promise<Fields> {
  const { fileIds } = mediaReferences(body);
  if (fileIds.size === 0) return body;
  const files = new Map<string, Media>();
  for (const id of fileIds) {
    // Other ids may be an upstream's.
    if (!UPLOADED_ID.test(id)) continue;
    if (files.size >= IMAGES_MAX) throw tooMany();
    const file = await store.findFile(accountId, id);
    const bytes = await store.readFile(accountId, id);
    if (file === undefined || bytes === undefined) {
      throw fileNotFound(id, locateText(id, sent) ?? ("messages" in body ? "messages" : "input"));
    }
    files.set(id, { mediaType: file.mediaType, data: Buffer.from(bytes).toString("base64") });
  }
  return replaceMedia(body, { file: (id) => files.get(id) });
}

/**
 * Creates the function that adapts requests to providers. The images of a request are fetched once, however many routes are
 * tried.
 */
export function createImageFetch(fetch: () => GuardedFetch) {
  const fetched = new WeakMap<AdmittedRequest, Promise<AdmittedRequest>>();

  /** Returns the request adapted to this provider. Throws 400 if an image cannot be fetched. */
  return async function inlineImages(
    admitted: AdmittedRequest,
    provider: Provider,
    signal: AbortSignal,
  ): Promise<AdmittedRequest> {
    if (provider.quirks.image_urls !== false) return admitted;
    let fitted = fetched.get(admitted);
    if (fitted === undefined) {
      fitted = inlined(admitted, fetch(), signal);
      fetched.set(admitted, fitted);
    }
    return fitted;
  };
}

async function inlined(admitted: AdmittedRequest, fetch: GuardedFetch, signal: AbortSignal): Promise<AdmittedRequest> {
  const body = { ...admitted.body, ...admitted.members };
  const { urls } = mediaReferences(body);
  if (urls.size === 0) return admitted;
  if (urls.size > IMAGES_MAX) throw tooMany();
  const images = new Map<string, Media>();
  let left = FETCHED_BYTES_MAX;
  // The images are fetched one after the other, so that the sum is checked before the next one.
  for (const url of urls) {
    const bytes = await fetchImage(fetch, url, { bytesMax: Math.min(IMAGE_BYTES_MAX, left), signal });
    const mediaType = sniffImage(bytes);
    if (mediaType === undefined) throw cannotUse(url, "it is not a PNG, JPEG, GIF or WebP image");
    left -= bytes.byteLength;
    images.set(url, { mediaType, data: Buffer.from(bytes).toString("base64") });
  }
  const sources = { url: (url: string) => images.get(url) };
  const replaced = replaceMedia(body, sources);
  const members: Record<string, unknown> = { ...admitted.members };
  for (const key of ["messages", "input"]) if (replaced[key] !== body[key]) members[key] = replaced[key];
  const chat = inlineChat(admitted.chat, (url) => images.get(url));
  return { ...admitted, chat, members: admitted.members === undefined ? undefined : members };
}

function inlineChat(chat: AdmittedRequest["chat"], find: (url: string) => Media | undefined): AdmittedRequest["chat"] {
  const inline = <P extends { type: string }>(part: P): P => {
    if (part.type === "tool-result") {
      const result = part as unknown as { content: { type: string }[] };
      return { ...part, content: result.content.map(inline) };
    }
    if (part.type !== "image") return part;
    const { source } = part as unknown as { source: { kind: string; url?: string } };
    const media = source.kind === "url" ? find(source.url ?? "") : undefined;
    return media === undefined ? part : { ...part, source: { kind: "base64", ...media } };
  };
  const messages = chat.messages.map((message) => {
    const content = (message.content as { type: string }[]).map(inline);
    return { ...message, content } as typeof message;
  });
  return { ...chat, messages };
}

async function fetchImage(
  fetch: GuardedFetch,
  url: string,
  options: { bytesMax: number; signal: AbortSignal },
): Promise<Uint8Array> {
  try {
    const answer = await fetch(url, { ...options, timeoutMs: FETCH_TIMEOUT_MS, headers: { accept: "image/*" } });
    if (answer.status !== 200) throw cannotUse(url, `its server answered ${answer.status}`);
    return answer.body;
  } catch (error) {
    if (error instanceof BlockedAddress) throw new ApiError("url_not_allowed", error.message, { cause: error });
    if (error instanceof FetchError) throw cannotUse(url, "it could not be fetched", error);
    throw error;
  }
}

function cannotUse(url: string, why: string, cause?: unknown): ApiError {
  return new ApiError("invalid_request", `The image ${url.slice(0, 200)} cannot be used: ${why}.`, { cause });
}

function tooMany(): ApiError {
  return new ApiError("invalid_request", `A request may name at most ${IMAGES_MAX} images.`);
}
