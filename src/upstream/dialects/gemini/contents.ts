// Writes the history as Gemini's contents, which have the roles user and model. Every functionCall is answered by its
// functionResponse in the next turn, in equal number, and thought signatures are where they were issued.

import { ApiError } from "../../../base/errors.ts";
import { lookUp } from "../../../base/look-up.ts";
import type {
  AssistantContent,
  ChatMessage,
  FilePart,
  MediaSource,
  SystemContent,
  ToolCallPart,
  ToolResultPart,
  UserContent,
} from "../../../chat/request.ts";
import { callInput } from "../../call-inputs.ts";
import { ForeignMedia } from "../../foreign.ts";
import { asRecord, asText, type Loose } from "../loose.ts";

/** The protocol's name in `origin`. */
export const GEMINI = "gemini";

/** A part or content of the protocol. */
export type GeminiPart = Record<string, unknown>;

/** A turn of the protocol. */
export interface GeminiContent {
  role: "user" | "model";
  parts: GeminiPart[];
}

/** Differences between the generations of models. */
export interface GeminiTraits {
  /**
   * True from generation 3 on: calls have ids and must have signatures, results may contain images, and tools can be combined
   * with structured output.
   */
  third: boolean;
}

/**
 * The value that Google documents for calls of another model. It is accepted instead of a signature
 * (ai.google.dev/gemini-api/docs/thought-signatures, FAQ).
 */
const FOREIGN_CALL = "skip_thought_signature_validator";

/** The contents. `dropped` gets the names of parts that were left out because the answer does not depend on them. */
export function geminiContents(
  messages: readonly ChatMessage[],
  traits: GeminiTraits,
  dropped: Set<string>,
): { system: GeminiPart[]; contents: GeminiContent[] } {
  const system: GeminiPart[] = [];
  const contents: GeminiContent[] = [];
  const writer = new PartWriter(traits, dropped);
  const add = (role: GeminiContent["role"], parts: GeminiPart[]) => {
    if (parts.length === 0) return;
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else contents.push({ role, parts });
  };
  for (const message of messages) {
    switch (message.role) {
      case "system":
        system.push(...message.content.flatMap((part) => writer.user(part)));
        break;
      case "user":
        add(
          "user",
          message.content.flatMap((part) => writer.user(part)),
        );
        break;
      case "tool":
        add(
          "user",
          message.content.flatMap((part) => writer.result(part)),
        );
        break;
      case "assistant":
        add(
          "model",
          message.content.flatMap((part) => writer.assistant(part)),
        );
        break;
    }
  }
  const paired = pairResponses(contents);
  if (traits.third) for (const content of paired) signFirstCall(content);
  // The protocol starts with a user turn, so a request with system text alone is sent as the user's.
  if (paired.length === 0 && system.length > 0) paired.push({ role: "user", parts: system.splice(-1) });
  if (paired.length === 0)
    throw new ApiError("invalid_request", "The messages have no content.", { param: "messages" });
  if (paired[0]?.role === "model") paired.unshift({ role: "user", parts: [{ text: "Go on." }] });
  return { system, contents: paired };
}

/** Writes parts. It remembers the calls, because a functionResponse names its function. */
class PartWriter {
  readonly #traits: GeminiTraits;
  readonly #dropped: Set<string>;
  readonly #names = new Map<string, string>();

  constructor(traits: GeminiTraits, dropped: Set<string>) {
    this.#traits = traits;
    this.#dropped = dropped;
  }

  user(part: UserContent | SystemContent): GeminiPart[] {
    switch (part.type) {
      case "text":
        return part.text === "" ? [] : [{ text: part.text }];
      case "image":
        return [media(part.source, "image/jpeg")];
      case "file":
        return [filePart(part)];
      case "audio":
        return [{ inlineData: { mimeType: `audio/${part.format}`, data: part.data } }];
      case "opaque":
        return this.#opaque(part.origin, part.value);
    }
  }

  assistant(part: AssistantContent): GeminiPart[] {
    switch (part.type) {
      case "text":
      case "refusal":
        return part.text === "" ? [] : [{ text: part.text }];
      case "reasoning":
        // Thoughts are not sent back, but their signatures are, each on an empty part.
        if (part.origin !== GEMINI || !part.signature) return [];
        return [{ text: "", thoughtSignature: part.signature }];
      case "tool-call":
        return [this.#call(part)];
      case "image":
        return [media(part.source, "image/jpeg")];
      case "opaque":
        return this.#opaque(part.origin, part.value);
      default:
        this.#dropped.add(`messages.${part.type}`);
        return [];
    }
  }

  result(part: ToolResultPart): GeminiPart[] {
    const name = part.name ?? this.#names.get(part.callId) ?? "unknown";
    const text = part.content.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n");
    const shown = part.content.flatMap((piece) => (piece.type === "text" ? [] : this.user(piece)));
    const functionResponse: GeminiPart = { name, response: part.isError ? { error: text } : { output: text } };
    if (this.#traits.third) {
      functionResponse["id"] = part.callId;
      if (shown.length > 0) functionResponse["parts"] = shown;
      return [{ functionResponse, [CALL]: part.callId }];
    }
    const note = shown.length > 0 ? [{ text: `Attached to the result of ${name}:` }] : [];
    return [{ functionResponse, [CALL]: part.callId }, ...note, ...shown];
  }

  #call(part: ToolCallPart): GeminiPart {
    this.#names.set(part.callId, part.name);
    const id = this.#traits.third ? { id: part.callId } : {};
    const signature = part.signature === undefined ? {} : { thoughtSignature: part.signature };
    return { functionCall: { ...id, name: part.name, args: callInput(part) }, ...signature, [CALL]: part.callId };
  }

  #opaque(origin: string, value: Loose): GeminiPart[] {
    if (origin === GEMINI) return [{ ...value }];
    this.#dropped.add(asText(value["type"]) ?? origin);
    return [];
  }
}

/** A key that links calls and responses. JSON.stringify leaves symbols out. */
const CALL = Symbol("call");

type Tied = GeminiPart & { [CALL]?: string };

function media(source: MediaSource, mimeType: string): GeminiPart {
  if (source.kind === "base64") return { inlineData: { mimeType: source.mediaType, data: source.data } };
  if (source.kind === "url") {
    const data = /^data:([^;,]+)(?:;[^,]*)?;base64,(.*)$/s.exec(source.url);
    if (data !== null) return { inlineData: { mimeType: data[1], data: data[2] } };
    return { fileData: { mimeType: mimeOf(source.url) ?? mimeType, fileUri: source.url } };
  }
  // The protocol only supports files that it stores itself, which are named by URIs.
  if (/^(?:https:|gs:|files\/)/.test(source.fileId)) return { fileData: { mimeType, fileUri: source.fileId } };
  throw new ForeignMedia("This model's provider does not have that file.", { source });
}

const MIME: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  pdf: "application/pdf",
};

function mimeOf(url: string): string | undefined {
  const path = url.split(/[?#]/, 1)[0] ?? "";
  return lookUp(MIME, path.slice(path.lastIndexOf(".") + 1).toLowerCase());
}

function filePart({ source }: FilePart): GeminiPart {
  return source.kind === "text" ? { text: source.text } : media(source, "application/pdf");
}

/**
 * Puts responses alone into the turn after their calls, in the order of the calls. Missing responses get placeholders; responses
 * without a call become text.
 */
function pairResponses(contents: readonly GeminiContent[]): GeminiContent[] {
  const out: GeminiContent[] = [];
  contents.forEach((content, i) => {
    const before = contents[i - 1];
    const asked = before?.role === "model" ? callsOf(before) : [];
    if (content.role === "user") {
      const { responses, others } = responsesOf(content, asked);
      if (responses.length > 0) out.push({ role: "user", parts: responses });
      const rest = others.map(strayAsText);
      if (rest.length > 0) out.push({ role: "user", parts: rest });
      return;
    }
    out.push(content);
    if (i === contents.length - 1 && callsOf(content).length > 0) {
      out.push({ role: "user", parts: callsOf(content).map(missing) });
    }
  });
  return out;
}

function callsOf(content: GeminiContent): Tied[] {
  return content.parts.filter((part) => part["functionCall"] !== undefined);
}

/** The first response to each call that no earlier call has, and the parts that are none of these. */
function responsesOf({ parts }: GeminiContent, asked: readonly Tied[]) {
  if (asked.length === 0) return { responses: [], others: parts };
  const given = Map.groupBy(
    parts.filter((part) => part["functionResponse"] !== undefined),
    (part: Tied) => part[CALL],
  );
  // The last of each list is the first response.
  for (const list of given.values()) list.reverse();
  const responses = asked.map((call) => given.get(call[CALL])?.pop() ?? missing(call));
  const taken = new Set(responses);
  return { responses, others: parts.filter((part) => !taken.has(part)) };
}

function missing(call: Tied): GeminiPart {
  const { name, id } = asRecord(call["functionCall"]);
  const response = { error: "No result was given." };
  return { functionResponse: { ...(id === undefined ? {} : { id }), name, response } };
}

function strayAsText(part: GeminiPart): GeminiPart {
  if (part["functionResponse"] === undefined) return part;
  const { name, response } = asRecord(part["functionResponse"]);
  return { text: `Result of the tool ${name}:\n${JSON.stringify(response)}` };
}

/** Sets the signature of the first of parallel calls, the only one that has it. Without a signature, the turn is refused. */
function signFirstCall(content: GeminiContent): void {
  if (content.role !== "model") return;
  const calls = callsOf(content);
  if (calls.some((call) => call["thoughtSignature"] !== undefined)) return;
  if (calls[0] !== undefined) calls[0]["thoughtSignature"] = FOREIGN_CALL;
}
