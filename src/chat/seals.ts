// Sealed values (signatures, encrypted reasoning) can only be read by the provider that issued them: not by another protocol,
// and not by another vendor or account of the same one.

import type { AssistantContent, ChatMessage, ChatRequest, ReasoningPart, ToolCallPart } from "./request.ts";

/** The protocol with signatures of tool calls; others pass them on and say so. */
export const CALL_SIGNER = "gemini";
/** The protocol whose servers bind signatures to the preceding history, and refuse them after a different one. */
export const HISTORY_BINDER = "anthropic-messages";

/** The protocol that takes reasoning back as items, which some servers do not encrypt. */
const ITEM_TAKER = "openai-responses";

/** A possible recipient of sealed values. */
export interface SealReader {
  /** The protocol it speaks. */
  protocol: string;
  /** Identifies the provider. */
  minter: string;
  /** It returns reasoning without a seal and accepts it back. */
  unsigned: boolean;
  /** Responses: it takes reasoning that is not encrypted and that it did not store. */
  plain?: boolean;
  /** It refused the sealed values of this history: none is sent. */
  refused?: boolean;
  /** The issuer of a value that does not name it; undefined if unknown. */
  minterOf(value: string): string | undefined;
}

/** A provider, and its rules for reasoning in a history. */
export interface HistoryReader extends SealReader {
  /** Chat completions: turns with reasoning are refused. */
  refusesReasoning: boolean;
  /** Chat completions: turns with tool calls must include their reasoning. */
  needsReasoning: boolean;
  /** The reasoning behind a tool call, if the client did not return it. */
  thoughtOf(callId: string): Thought | undefined;
}

/** The reasoning of an answer with tool calls. */
export interface Thought {
  parts: readonly ReasoningPart[];
  /** Signatures of its calls. */
  seals: ReadonlyMap<string, CallSeal>;
}

/** A call's own signature and its issuer. */
export interface CallSeal {
  signature: string;
  origin?: string;
  minter?: string;
}

/** A sealed value and its known origin. */
export interface Seal {
  /** The protocol; undefined if unknown. */
  origin?: string | undefined;
  minter?: string | undefined;
  value: string;
}

/** Whether the provider issued the value, or may have: for values of unknown origin the client is trusted. */
export function canRead(seal: Seal, reader: SealReader): boolean {
  if (reader.refused === true) return false;
  if (seal.origin !== undefined && seal.origin !== reader.protocol) return false;
  const minter = seal.minter ?? reader.minterOf(seal.value);
  return minter === undefined || minter === reader.minter;
}

/** The request without seals that this provider did not issue; their texts stay. The original is not changed. */
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
  if (value === undefined ? isOwnPlain(part, reader) : canRead({ ...part, value }, reader)) return part;
  const { text, summary } = part;
  return { type: "reasoning", text, ...(summary === undefined ? {} : { summary }) };
}

/** Whether plain reasoning may keep the name of its issuer, by which the Responses API gets it back as an item. */
function isOwnPlain({ origin, minter }: ReasoningPart, reader: SealReader): boolean {
  if (origin !== ITEM_TAKER) return true;
  return reader.protocol === ITEM_TAKER && reader.plain === true && reader.refused !== true && minter === reader.minter;
}

function ownCall(part: ToolCallPart, reader: SealReader): ToolCallPart {
  const { signature, origin = CALL_SIGNER, minter } = part;
  if (signature === undefined || canRead({ origin, minter, value: signature }, reader)) return part;
  const { signature: _signature, origin: _origin, minter: _minter, ...call } = part;
  return call;
}

/** The sealed content of a reasoning part, as one value; undefined for plain text. */
function sealOf({ signature, redacted, encrypted, details }: ReasoningPart): string | undefined {
  return signature ?? redacted ?? encrypted ?? (details === undefined ? undefined : valueOfDetails(details));
}

/** The value that identifies a list of OpenRouter's `reasoning_details`: the first sealed one. */
export function valueOfDetails(details: readonly unknown[]): string {
  for (const detail of details) {
    if (typeof detail !== "object" || detail === null) continue;
    const { signature, data } = detail as Record<string, unknown>;
    for (const value of [signature, data]) if (typeof value === "string" && value !== "") return value;
  }
  return "";
}

/**
 * The request with the reasoning behind its tool calls restored where the client did not return it. What it returned takes
 * precedence, except for plain text, of which the sealed form has more.
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
