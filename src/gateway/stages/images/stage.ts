// Embeds the images that a provider cannot fetch. URLs stay URLs if it accepts them; otherwise they are fetched, only through the
// address guard.

import { ApiError } from "../../../base/errors.ts";
import { BlockedAddress } from "../../../net/address-guard.ts";
import { FetchError, type GuardedFetch } from "../../../net/fetch.ts";
import { type Media, mediaReferences, replaceMedia } from "../../../wire/media-references.ts";
import { type Change, type ChatTurn, mayContain, type Stage, type StageRun } from "../../centre/stage.ts";
import { IMAGE_BYTES_MAX, IMAGES_MAX, sniffImage, tooManyImages } from "../../rules/images.ts";

const FETCH_TIMEOUT_MS = 15_000;
/** Maximum bytes of all images of one request, so that a few links cannot fill the memory. */
const FETCHED_BYTES_MAX = 50 * 1024 * 1024;

/** Creates the stage. An image is fetched once for a request, however many routes are tried and however its turn is shortened. */
export function createImagesStage(fetch: () => GuardedFetch): Stage {
  const runOf = (): StageRun => {
    const images = new Map<string, Media>();
    const changes = new WeakMap<ChatTurn, Promise<Change | undefined>>();
    return {
      adapt(turn, { provider }, signal) {
        if (provider.quirks.image_urls !== false) return undefined;
        let change = changes.get(turn);
        if (change === undefined) {
          change = inlined(turn, { fetch: fetch(), images, signal });
          changes.set(turn, change);
        }
        return change;
      },
    };
  };
  return {
    name: "images",
    // The type of every image has this word. The history that was inserted before may name images too.
    open: (turn) => (turn.before !== undefined || mayContain(turn, "image") ? runOf() : undefined),
  };
}

/** Embeds the linked images of a turn. `images`: those that the request has fetched already, to which new ones are added. */
async function inlined(
  turn: ChatTurn,
  { fetch, images, signal }: { fetch: GuardedFetch; images: Map<string, Media>; signal: AbortSignal },
): Promise<Change | undefined> {
  const body = { ...turn.body, ...turn.members };
  const { urls } = mediaReferences(body);
  if (urls.size === 0) return undefined;
  if (urls.size > IMAGES_MAX) throw tooManyImages();
  let bytesLeft = FETCHED_BYTES_MAX;
  for (const { data } of images.values()) bytesLeft -= Buffer.byteLength(data, "base64");
  // The images are fetched one after the other, so that the sum is checked before the next one.
  for (const url of urls) {
    if (images.has(url)) continue;
    const bytes = await fetchImage(fetch, url, { bytesMax: Math.min(IMAGE_BYTES_MAX, bytesLeft), signal });
    const mediaType = sniffImage(bytes);
    if (mediaType === undefined) throw cannotUse(url, "it is not a PNG, JPEG, GIF or WebP image");
    bytesLeft -= bytes.byteLength;
    images.set(url, { mediaType, data: Buffer.from(bytes).toString("base64") });
  }
  const sources = { url: (url: string) => images.get(url) };
  const replaced = replaceMedia(body, sources);
  const members: Record<string, unknown> = { ...turn.members };
  for (const key of ["messages", "input"]) if (replaced[key] !== body[key]) members[key] = replaced[key];
  const chat = inlineChat(turn.chat, (url) => images.get(url));
  return { why: "images", chat, members: turn.members === undefined ? undefined : members };
}

function inlineChat(chat: ChatTurn["chat"], find: (url: string) => Media | undefined): ChatTurn["chat"] {
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
