// Sealed values (signatures, encrypted reasoning) can be read by the provider that minted them and by no other: not by
// another protocol, and not by another vendor or account that speaks the same one.

import type { AssistantContent, ChatMessage, ChatRequest, ReasoningPart, ToolCallPart } from "./request.ts";

/** The protocol that has signatures of tool calls; others hand them on and say so. */
export const CALL_SIGNER = "gemini";
/** The protocol whose servers bind what they sign to all that went before it, and refuse it after another history. */
export const HISTORY_BINDER = "anthropic-messages";

/** Who may be given sealed values. */
export interface SealReader {
  /** The protocol it speaks. */
  protocol: string;
  /** What tells it from every other provider. */
  minter: string;
  /** It gives reasoning without a seal and takes it back. */
  unsigned: boolean;
  /** It refused what this history holds of sealed values: none goes up. */
  refused?: boolean;
  /** Who minted a value that does not tell; undefined where that was not seen here. */
  minterOf(value: string): string | undefined;
}

/** A provider and what it takes of reasoning in a history. */
export interface HistoryReader extends SealReader {
  /** Chat completions: turns that hold reasoning are refused. */
  refusesReasoning: boolean;
  /** Chat completions: turns that call tools must bring their reasoning back. */
  needsReasoning: boolean;
  /** The reasoning behind a tool call, where the client did not hand it back. */
  thoughtOf(callId: string): Thought | undefined;
}

/** What an answer that called tools had thought. */
export interface Thought {
  parts: readonly ReasoningPart[];
  /** Signatures of its calls. */
  seals: ReadonlyMap<string, CallSeal>;
}

/** A call's own signature and who minted it. */
export interface CallSeal {
  signature: string;
  origin?: string;
  minter?: string;
}

/** A sealed value and what is known of its origin. */
export interface Seal {
  /** The protocol; undefined where it is not known. */
  origin?: string | undefined;
  minter?: string | undefined;
  value: string;
}

/** True when the provider sealed the value, or may have: for values of unknown origin the client is trusted. */
export function canRead(seal: Seal, reader: SealReader): boolean {
  if (reader.refused === true) return false;
  if (seal.origin !== undefined && seal.origin !== reader.protocol) return false;
  const minter = seal.minter ?? reader.minterOf(seal.value);
  return minter === undefined || minter === reader.minter;
}

/** The request without the seals that this provider did not mint; the texts beside them stay. The original is not touched. */
export function withoutForeignSeals(chat: ChatRequest, reader: SealReader): ChatRequest {
  let changed = false;
  const messages = chat.messages.map((message): ChatMessage => {
    if (message.role !== "assistant") return message;
    const content = message.content.map((part) => ownPart(part, reader));
    if (content.every((part, i) => part === message.content[i])) return message;
    changed = true;
    return { ...message, content };
  });
  return changed ? { ...chat, messages } : chat;
}

function ownPart(part: AssistantContent, reader: SealReader): AssistantContent {
  if (part.type === "tool-call") return ownCall(part, reader);
  if (part.type !== "reasoning") return part;
  const value = sealOf(part);
  if (value === undefined || canRead({ ...part, value }, reader)) return part;
  const { text, summary } = part;
  return { type: "reasoning", text, ...(summary === undefined ? {} : { summary }) };
}

function ownCall(part: ToolCallPart, reader: SealReader): ToolCallPart {
  const { signature, origin = CALL_SIGNER, minter } = part;
  if (signature === undefined || canRead({ origin, minter, value: signature }, reader)) return part;
  const { signature: _signature, origin: _origin, minter: _minter, ...call } = part;
  return call;
}

/** What of a reasoning part is sealed, as one value; undefined for plain text. */
function sealOf({ signature, redacted, encrypted, details }: ReasoningPart): string | undefined {
  return signature ?? redacted ?? encrypted ?? (details === undefined ? undefined : valueOfDetails(details));
}

/** The value that tells a list of OpenRouter's `reasoning_details`: the first that is sealed. */
export function valueOfDetails(details: readonly unknown[]): string {
  for (const detail of details) {
    if (typeof detail !== "object" || detail === null) continue;
    const { signature, data } = detail as Record<string, unknown>;
    for (const value of [signature, data]) if (typeof value === "string" && value !== "") return value;
  }
  return "";
}

/**
 * The request with the reasoning behind its tool calls put back where the client did not hand it back. What it did hand
 * back wins, but for plain text, of which the sealed form says more.
 */
export function withThoughts(chat: ChatRequest, reader: HistoryReader): ChatRequest {
  let changed = false;
  const messages = chat.messages.map((message): ChatMessage => {
    if (message.role !== "assistant") return message;
    const content = thoughtful(message.content, reader);
    if (content === message.content) return message;
    changed = true;
    return { ...message, content };
  });
  return changed ? { ...chat, messages } : chat;
}

function thoughtful(content: AssistantContent[], reader: HistoryReader): AssistantContent[] {
  const call = content.find((part) => part.type === "tool-call");
  const thought = call === undefined ? undefined : reader.thoughtOf(call.callId);
  if (thought === undefined) return content;
  const isHandedBack = content.some((part) => part.type === "reasoning" && sealOf(part) !== undefined);
  const parts = isHandedBack ? [] : thought.parts;
  const rest = parts.length === 0 ? content : content.filter((part) => part.type !== "reasoning");
  return [
    ...parts,
    ...rest.map((part) => {
      const seal =
        part.type === "tool-call" && part.signature === undefined ? thought.seals.get(part.callId) : undefined;
      return seal === undefined ? part : { ...part, ...seal };
    }),
  ];
}
