// The turns of an Anthropic request. They alternate strictly and start with the user, every tool_use is directly followed by its
// tool_result, and there is no empty text. A history that breaks these rules is corrected, since the upstream would refuse it.

import { ApiError } from "../../../base/errors.ts";
import { UnusedNames } from "../../../base/unused-names.ts";
import type {
  AssistantContent,
  CacheControl,
  ChatMessage,
  FilePart,
  MediaSource,
  SystemContent,
  ToolResultPart,
  UserContent,
} from "../../../chat/request.ts";
import type { ModelTraits } from "../../../vendors/model-family.ts";
import { callInput } from "../../call-inputs.ts";
import { ForeignMedia } from "../../foreign.ts";
import { GO_ON } from "../../tool-choice.ts";
import { asText, type Loose } from "../loose.ts";

/** The protocol's name in `origin`. */
export const ANTHROPIC = "anthropic-messages";

/** A content block of the protocol. */
export type AnthropicBlock = Record<string, unknown>;

/** A turn of the protocol. */
export interface AnthropicMessage {
  role: "user" | "assistant" | "system";
  content: AnthropicBlock[];
}

/** Which features of a history a model supports. */
export type TurnFacts = Pick<ModelTraits, "lateSystem" | "prefill">;

/**
 * The history in Anthropic's format. `dropped` gets the names of parts that were left out because the answer does not depend on
 * them.
 */
export function anthropicTurns(
  messages: readonly ChatMessage[],
  dropped: Set<string>,
  facts: TurnFacts,
): { system: AnthropicBlock[]; turns: AnthropicMessage[] } {
  const ids = new CallIds();
  const system: AnthropicBlock[] = [];
  const list = new TurnList();
  const { turns } = list;
  const add = (role: "user" | "assistant", content: AnthropicBlock[]) => list.add(role, content);
  for (const message of messages) {
    if (message.role === "system") {
      const content = blocksOf(message.content, (part) => userBlock(part, dropped));
      // Moving system text to the top would change the beginning of every turn, which breaks caches and the validation of earlier
      // thinking.
      if (facts.lateSystem && turns.length > 0) list.addSystem(content);
      else system.push(...content);
    } else if (message.role === "user")
      add(
        "user",
        blocksOf(message.content, (part) => userBlock(part, dropped)),
      );
    else if (message.role === "tool")
      add(
        "user",
        blocksOf(message.content, (part) => resultBlock(part, ids, dropped)),
      );
    else
      add(
        "assistant",
        blocksOf(message.content, (part) => assistantBlock(part, ids, dropped)),
      );
  }
  list.end();
  pairResults(turns);
  // The protocol starts with a user turn, so a request with system text alone is sent as the user's.
  if (turns.length === 0 && system.length > 0) turns.push({ role: "user", content: system.splice(-1) });
  if (turns.length === 0) throw new ApiError("invalid_request", "The messages have no content.", { param: "messages" });
  if (turns[0]?.role === "assistant") turns.unshift({ role: "user", content: [{ type: "text", text: "Go on." }] });
  if (facts.prefill) trimPrefill(turns);
  else askOn(turns, dropped);
  return { system, turns };
}

/** Collects turns. Adjacent turns with the same role are merged, and system text is put after a user turn. */
class TurnList {
  readonly turns: AnthropicMessage[] = [];
  /** System text that waits for the next user turn. */
  #waiting: AnthropicBlock[] = [];

  add(role: "user" | "assistant", content: AnthropicBlock[]): void {
    if (content.length === 0) return;
    const last = this.turns.at(-1);
    // No user turn may come between system text and the next answer.
    const target = role === "user" && last?.role === "system" ? this.turns.at(-2) : last;
    if (target?.role === role) target.content.push(...content);
    else this.turns.push({ role, content });
    if (role === "user") this.addSystem(this.#waiting.splice(0));
  }

  addSystem(content: AnthropicBlock[]): void {
    const last = this.turns.at(-1);
    if (content.length === 0) return;
    if (last?.role === "system") last.content.push(...content);
    else if (last?.role === "user") this.turns.push({ role: "system", content });
    else this.#waiting.push(...content);
  }

  /** System text without a following user turn is sent as the user's. */
  end(): void {
    if (this.#waiting.length > 0) this.turns.push({ role: "user", content: this.#waiting.splice(0) });
  }
}

function blocksOf<P>(parts: readonly P[], block: (part: P) => AnthropicBlock | undefined): AnthropicBlock[] {
  return parts.map(block).filter((made) => made !== undefined);
}

function cached(block: AnthropicBlock, cacheControl: CacheControl | undefined): AnthropicBlock {
  return cacheControl === undefined ? block : { ...block, cache_control: cacheControl };
}

/** The text block of a text; undefined for an empty or blank text, which would be a 400 (new-api#1854). */
function textBlock(text: string, cacheControl?: CacheControl): AnthropicBlock | undefined {
  return text.trim() === "" ? undefined : cached({ type: "text", text }, cacheControl);
}

function opaqueBlock(origin: string, value: Loose, dropped: Set<string>): AnthropicBlock | undefined {
  if (origin === ANTHROPIC) return { ...value };
  dropped.add(asText(value["type"]) ?? origin);
  return undefined;
}

function userBlock(part: UserContent | SystemContent, dropped: Set<string>): AnthropicBlock | undefined {
  switch (part.type) {
    case "text":
      return textBlock(part.text, part.cacheControl);
    case "image":
      return cached({ type: "image", source: mediaSource(part.source) }, part.cacheControl);
    case "file":
      return documentBlock(part);
    case "audio":
      throw new ForeignMedia("This model's provider does not support audio input.", { source: part.data });
    case "opaque":
      return opaqueBlock(part.origin, part.value, dropped);
  }
}

function mediaSource(source: MediaSource): AnthropicBlock {
  if (source.kind === "file") return { type: "file", file_id: source.fileId };
  if (source.kind === "base64") return { type: "base64", media_type: source.mediaType, data: source.data };
  const data = /^data:([^;,]+)(?:;[^,]*)?;base64,(.*)$/s.exec(source.url);
  if (data !== null) return { type: "base64", media_type: data[1], data: data[2] };
  // The URL is sent unchanged. The provider fetches it: that is a third smaller than base64 and not subject to this gateway's
  // size limit (litellm#12899).
  return { type: "url", url: source.url };
}

function documentBlock(part: FilePart): AnthropicBlock {
  const title = part.filename === undefined ? {} : { title: part.filename };
  const context = part.context === undefined ? {} : { context: part.context };
  return cached({ type: "document", source: documentSource(part.source), ...title, ...context }, part.cacheControl);
}

function documentSource(source: FilePart["source"]): AnthropicBlock {
  if (source.kind === "text") return { type: "text", media_type: "text/plain", data: source.text };
  const made = mediaSource(source);
  if (made["type"] !== "base64" || made["media_type"] === "application/pdf") return made;
  if (String(made["media_type"]).startsWith("text/")) {
    const text = Buffer.from(String(made["data"]), "base64").toString("utf-8");
    return { type: "text", media_type: "text/plain", data: text };
  }
  throw new ForeignMedia(`Documents of type ${made["media_type"]} are not supported.`, { source });
}

function assistantBlock(part: AssistantContent, ids: CallIds, dropped: Set<string>): AnthropicBlock | undefined {
  switch (part.type) {
    case "text":
      return textBlock(part.text, part.cacheControl);
    case "refusal":
      return textBlock(part.text);
    case "reasoning":
      // A signature of another protocol has no meaning here, and Anthropic refuses unsigned thinking (onyx#13691).
      if (part.origin !== undefined && part.origin !== ANTHROPIC) return undefined;
      if (part.redacted !== undefined) return { type: "redacted_thinking", data: part.redacted };
      if (part.signature === undefined || part.signature === "") return undefined;
      return { type: "thinking", thinking: part.text, signature: part.signature };
    case "tool-call":
      return cached(
        { type: "tool_use", id: ids.ofCall(part.callId), name: part.name, input: callInput(part) },
        part.cacheControl,
      );
    case "opaque":
      return opaqueBlock(part.origin, part.value, dropped);
    case "image":
    case "audio":
      dropped.add(`messages.${part.type}`);
      return undefined;
  }
}

function resultBlock(part: ToolResultPart, ids: CallIds, dropped: Set<string>): AnthropicBlock {
  const content = blocksOf(part.content, (piece) => userBlock(piece, dropped));
  const block: AnthropicBlock = { type: "tool_result", tool_use_id: ids.ofResult(part.callId) };
  if (content.length > 0) {
    // A single plain text stays a string, the most common form, which every compatible upstream accepts.
    const only = content.length === 1 ? content[0] : undefined;
    block["content"] = only?.["type"] === "text" && Object.keys(only).length === 2 ? only["text"] : content;
  }
  if (part.isError) block["is_error"] = true;
  return cached(block, part.cacheControl);
}

/** The ids of calls in Anthropic's form: [a-zA-Z0-9_-]+ and unique in the history, whatever the other protocol used. */
class CallIds {
  readonly #unused = new UnusedNames({ before: "_" });
  readonly #latest = new Map<string, string>();

  ofCall(callId: string): string {
    const id = this.#unused.take(callId.replace(/[^a-zA-Z0-9_-]/g, "_") || "call");
    this.#latest.set(callId, id);
    return id;
  }

  ofResult(callId: string): string {
    return this.#latest.get(callId) ?? callId.replace(/[^a-zA-Z0-9_-]/g, "_");
  }
}

/**
 * Puts every tool_result at the beginning of the turn after its tool_use. A missing result is replaced by a placeholder; a result
 * without a call becomes text.
 */
function pairResults(turns: AnthropicMessage[]): void {
  for (let i = 0; i < turns.length; i++) {
    const turn = turns[i] as AnthropicMessage;
    if (turn.role === "user") {
      const before = turns[i - 1];
      const asked = new Set(before === undefined ? [] : callsOf(before));
      const { mine = [], others = [] } = Object.groupBy(turn.content, (block) =>
        block["type"] === "tool_result" && asked.delete(idOf(block)) ? "mine" : "others",
      );
      const rest = others.map(strayAsText);
      turn.content = [...mine, ...[...asked].map(missingResult), ...rest];
    } else if (callsOf(turn).length > 0 && turns[i + 1] === undefined) {
      turns.push({ role: "user", content: callsOf(turn).map(missingResult) });
      return;
    }
  }
}

function callsOf(turn: AnthropicMessage): string[] {
  return turn.role === "user"
    ? []
    : turn.content.filter((block) => block["type"] === "tool_use").map((block) => String(block["id"]));
}

function idOf(block: AnthropicBlock): string {
  return String(block["tool_use_id"]);
}

function missingResult(id: string): AnthropicBlock {
  return { type: "tool_result", tool_use_id: id, content: "No result was given.", is_error: true };
}

function strayAsText(block: AnthropicBlock): AnthropicBlock {
  if (block["type"] !== "tool_result") return block;
  const content = block["content"];
  const text = typeof content === "string" ? content : JSON.stringify(content ?? "");
  return { type: "text", text: `Result of the tool call ${idOf(block)}:\n${text}` };
}

/** Adds a user turn that asks the model to continue, if the model refuses a final assistant turn. */
function askOn(turns: AnthropicMessage[], dropped: Set<string>): void {
  if (turns.at(-1)?.role !== "assistant") return;
  turns.push({ role: "user", content: [{ type: "text", text: GO_ON }] });
  dropped.add("prefill");
}

/** Removes white space at the end of a final assistant turn, which is a prefill and must not end in white space. */
function trimPrefill(turns: AnthropicMessage[]): void {
  const last = turns.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== "assistant" || block?.["type"] !== "text") return;
  block["text"] = String(block["text"]).trimEnd();
}
