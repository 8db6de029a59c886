// Parts of a conversation that only another protocol has. What a user or a tool said is never lost: the text and images of such a
// part are sent, and media or a decision that cannot be sent are refused by name. Calls of tools that a provider runs belong to the
// past; they are dropped and named, as are parts of unknown kinds. If nothing else is left, such a part is refused.

import { ApiError } from "../base/errors.ts";
import { lookUp } from "../base/look-up.ts";
import { isBreakpoint } from "../chat/cache-marks.ts";
import type {
  CacheControl,
  ChatMessage,
  ChatRequest,
  FilePart,
  ImagePart,
  MediaSource,
  OpaquePart,
  TextPart,
  UserContent,
} from "../chat/request.ts";
import type { DialectName } from "../vendors/protocols.ts";

/** What a protocol supports beside the text of a message. */
export interface Places {
  /** Names of speakers. */
  names: boolean;
  /** `detail` of images. */
  detail: boolean;
  /** Prompt-cache markers: on everything, only on content of the system, the user and tools, or on nothing. */
  cacheMarkers: "everywhere" | "input" | "nowhere";
  /** Plain-text documents with a title, and notes on any document. */
  documents: boolean;
  /** Pictures in the turns of the model. Elsewhere they are shown to the model in the user's next turn. */
  pictures: boolean;
}

/** A part that the upstream's protocol cannot express. */
export class ForeignPiece extends ApiError {
  /** The part as the client sent it. */
  readonly piece: Readonly<Record<string, unknown>>;

  constructor(piece: Readonly<Record<string, unknown>>) {
    const message = `This model's provider cannot take content of type '${String(piece["type"]).slice(0, 100)}'.`;
    super("unsupported_parameter", message, { param: "messages" });
    this.piece = piece;
  }
}

/** Media that the upstream's protocol cannot express, in a part that the gateway has read. */
export class ForeignMedia extends ApiError {
  /** The URL, data or file id in the client's part. */
  readonly text: string;

  constructor(message: string, { source }: { source: MediaSource } | { source: string }) {
    super("unsupported_parameter", message, { param: "messages" });
    this.text = typeof source === "string" ? source : textOfSource(source);
  }
}

function textOfSource(source: MediaSource): string {
  if (source.kind === "url") return source.url;
  return source.kind === "base64" ? source.data : source.fileId;
}

/**
 * The request with only such parts as the dialect supports; the same object if nothing changed. `dropped` gets the kinds of
 * dropped parts with the prefix `messages.`. Throws `ForeignPiece`.
 */
export function inOwnFormat(
  chat: ChatRequest,
  dialect: DialectName,
  places: Places,
  dropped: Set<string>,
): ChatRequest {
  if (places.cacheMarkers !== "everywhere") {
    for (const tool of chat.tools) if (tool.type === "function") nameMark(tool, dropped);
  }
  let changed = false;
  const messages: ChatMessage[] = [];
  const gone: OpaquePart[] = [];
  chat.messages.forEach((message) => {
    if (!places.names && "name" in message && message.name !== undefined) dropped.add("messages.name");
    const marksAreLost =
      places.cacheMarkers === "nowhere" || (places.cacheMarkers === "input" && message.role === "assistant");
    for (const part of message.content) nameLost(part, { marksAreLost, detail: places.detail }, dropped);
    const own = messageInOwnWords(message, { dialect, places, gone }, dropped);
    if (own !== message) changed = true;
    // An assistant turn without other content is left out.
    if (own === message || own.content.length > 0) messages.push(own);
  });
  const shown = places.pictures ? messages : withMovedPictures(messages);
  const [first] = gone;
  if (first !== undefined && !shown.some(({ role }) => role !== "system")) {
    throw new ForeignPiece(first.value);
  }
  return changed || shown !== messages ? { ...chat, messages: shown } : chat;
}

/** The messages with pictures that the model drew in the user's next turn; the same list if there are none. */
function withMovedPictures(messages: ChatMessage[]): ChatMessage[] {
  const hasPicture = ({ role, content }: ChatMessage) => role === "assistant" && content.some(isPicture);
  if (!messages.some(hasPicture)) return messages;
  const out: ChatMessage[] = [];
  let pictures: ImagePart[] = [];
  for (const message of messages) {
    if (message.role === "assistant" && hasPicture(message)) {
      for (const part of message.content) if (part.type === "image") pictures.push(part);
      const content = message.content.filter((part) => !isPicture(part));
      if (content.length > 0) out.push({ ...message, content });
    } else if (message.role === "user" && pictures.length > 0) {
      out.push({ ...message, content: [...pictures, ...message.content] });
      pictures = [];
    } else out.push(message);
  }
  if (pictures.length > 0) out.push({ role: "user", content: pictures });
  return out;
}

function isPicture({ type }: { type: string }): boolean {
  return type === "image";
}

interface Losses {
  readonly marksAreLost: boolean;
  readonly detail: boolean;
}

function nameLost(part: ChatMessage["content"][number], losses: Losses, dropped: Set<string>): void {
  if (losses.marksAreLost && "cacheControl" in part) nameMark(part, dropped);
  if (part.type === "tool-result") for (const inner of part.content) nameLost(inner as TextPart, losses, dropped);
  else if (part.type === "image" && !losses.detail && (part.detail ?? "auto") !== "auto") dropped.add("detail");
}

/** Names a lost marker as the client calls it. */
function nameMark({ cacheControl: mark }: { cacheControl?: CacheControl }, dropped: Set<string>): void {
  if (mark !== undefined) dropped.add(isBreakpoint(mark) ? "prompt_cache_breakpoint" : "cache_control");
}

function messageInOwnWords(
  message: ChatMessage,
  { dialect, places, gone }: { dialect: DialectName; places: Places; gone: OpaquePart[] },
  dropped: Set<string>,
): ChatMessage {
  const isForeign = (part: { type: string }) =>
    part.type === "opaque" ? (part as OpaquePart).origin !== dialect : !places.documents && isTold(part);
  const drop = (part: OpaquePart): [] => {
    dropped.add(`messages.${String(part.value["type"])}`);
    gone.push(part);
    return [];
  };
  // A part becomes text, images and documents, which are allowed wherever such a part is.
  const inOwnTerms = <P extends { type: string }>(parts: readonly P[]): P[] => {
    // Looked for once: thousands of parts may be foreign.
    const isAlone = parts.every(isForeign);
    return parts.flatMap((part) => (isForeign(part) ? toldElse(part, isAlone) : [part]));
  };
  const toldElse = <P extends { type: string }>(part: P, isAlone: boolean): P[] => {
    if (part.type === "file") return toldOf(part as never) as unknown[] as P[];
    const own = saidBy(part as never);
    if (own !== undefined) return own as unknown[] as P[];
    const opaque = part as unknown as OpaquePart;
    if (WITHOUT_EFFECT.has(opaque.value["type"])) return [];
    if (MEANT.has(opaque.value["type"]) || isAlone) {
      throw new ForeignPiece(opaque.value);
    }
    return drop(opaque);
  };
  const holds =
    message.role === "tool"
      ? message.content.some((result) => result.content.some(isForeign))
      : message.content.some(isForeign);
  if (!holds) return message;
  if (message.role === "tool") {
    const content = message.content.map((result) => ({
      ...result,
      content: inOwnTerms(result.content),
    }));
    return { ...message, content };
  }
  if (message.role !== "assistant") {
    const content = inOwnTerms<UserContent>(message.content);
    return { ...message, content } as ChatMessage;
  }
  const content = message.content.flatMap((part) => {
    if (part.type !== "opaque" || part.origin === dialect) return [part];
    const picture = imageOf(part.value);
    if (picture !== undefined) return [picture];
    if (!STANDS_FOR_HISTORY.has(part.value["type"])) return drop(part);
    const own = saidBy(part);
    if (own === undefined) throw new ForeignPiece(part.value);
    return own;
  });
  return { ...message, content };
}

/** Whether a document has notes for which other protocols have no field. */
function isTold(part: { type: string }): boolean {
  if (part.type !== "file") return false;
  const { source, filename, context } = part as FilePart;
  return context !== undefined || (source.kind === "text" && filename !== undefined);
}

function toldOf(part: FilePart): (TextPart | FilePart)[] {
  const { context, ...file } = part;
  const text = (lines: (string | undefined)[]) => lines.filter((line) => line !== undefined && line !== "").join("\n");
  if (part.source.kind === "text") return [{ type: "text", text: text([part.filename, context, part.source.text]) }];
  return [{ type: "text", text: text([part.filename, context]) }, file];
}

/** Types of parts in an assistant turn that stand for earlier turns. Without them, the conversation would be a different one. */
const STANDS_FOR_HISTORY: ReadonlySet<unknown> = new Set(["compaction", "compaction_trigger"]);

/**
 * Types of parts without text that must not be left out, since the user means the model to see or know them. Parts of unknown
 * types are left out if there is something else beside them.
 */
const MEANT: ReadonlySet<unknown> = new Set([
  "tool_addition",
  "container_upload",
  "mcp_approval_response",
  "video_url",
  "input_video",
  "video",
  "audio_url",
  "input_audio",
  "audio",
  "file",
  "input_file",
  "document",
]);

/** Types of parts that have no effect elsewhere: a tool that only the client's protocol knows is not there to be removed. */
const WITHOUT_EFFECT: ReadonlySet<unknown> = new Set(["tool_removal"]);

/** The text and images of a part; undefined if there are none. */
function saidBy({ value }: OpaquePart): (TextPart | ImagePart)[] | undefined {
  const texts: string[] = [];
  const images: ImagePart[] = [];
  gather(value, texts, images);
  const type = String(value["type"]);
  // The result of a call may consist only of its status.
  if (texts.length === 0 && images.length === 0 && type.endsWith("_output") && typeof value["status"] === "string") {
    texts.push(value["status"]);
  }
  if (texts.length === 0 && images.length === 0) return undefined;
  const call = value["call_id"] ?? (type.endsWith("_output") ? value["id"] : undefined);
  if (typeof call === "string") texts.unshift(`Output of ${type.replace(/_output$/, "")} ${call}:`);
  return [...(texts.length > 0 ? [{ type: "text" as const, text: texts.join("\n") }] : []), ...images];
}

/** The members that contain a part's text, in the order of output. */
const SAID = ["title", "source", "context", "text", "content", "output", "stdout", "stderr", "result", "outcome"];
/** The members that are used if a part only has a name or a number. */
const NAMED: readonly (readonly [string, string])[] = [
  ["tool_name", "Tool"],
  ["exit_code", "Exit code"],
];
/** Maximum depth; no real part is nested deeper. */
const DEPTH_MAX = 8;

function gather(value: unknown, texts: string[], images: ImagePart[], depth = 0): void {
  if (typeof value === "string") {
    if (value !== "") texts.push(value);
    return;
  }
  if (typeof value !== "object" || value === null || depth > DEPTH_MAX) return;
  if (Array.isArray(value)) {
    for (const element of value) gather(element, texts, images, depth + 1);
    return;
  }
  const piece = value as Readonly<Record<string, unknown>>;
  const image = imageOf(piece);
  if (image !== undefined) {
    images.push(image);
    return;
  }
  for (const name of SAID) gather(piece[name], texts, images, depth + 1);
  for (const [name, label] of NAMED) {
    const said = piece[name];
    if (typeof said === "string" || typeof said === "number") texts.push(`${label}: ${said}`);
  }
}

function imageOf(piece: Readonly<Record<string, unknown>>): ImagePart | undefined {
  const url = piece["image_url"];
  if (typeof url === "string") return { type: "image", source: { kind: "url", url } };
  if (piece["type"] === "image_generation_call" && typeof piece["result"] === "string") {
    const { output_format: format = "png", result } = piece;
    return { type: "image", source: { kind: "base64", mediaType: `image/${String(format)}`, data: result } };
  }
  const isScreenshot = piece["type"] === "computer_screenshot" || piece["type"] === "input_image";
  if (!isScreenshot && piece["type"] !== "image") return undefined;
  const source = (isScreenshot ? piece : piece["source"]) as Readonly<Record<string, unknown>> | null | undefined;
  if (typeof source?.["file_id"] === "string") {
    return { type: "image", source: { kind: "file", fileId: source["file_id"] } };
  }
  if (typeof source?.["url"] === "string") return { type: "image", source: { kind: "url", url: source["url"] } };
  const { media_type: mediaType, data } = source ?? {};
  if (typeof mediaType !== "string" || typeof data !== "string") return undefined;
  return { type: "image", source: { kind: "base64", mediaType, data } };
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  "text/plain": "txt",
  "text/markdown": "md",
  "text/csv": "csv",
  "text/html": "html",
  "application/json": "json",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
};

/** The name of a document whose client gave it none, for protocols that require one. */
export function documentName(mediaType: string): string {
  return `document.${lookUp(EXTENSIONS, mediaType) ?? "pdf"}`;
}
