// Reads Gemini's stream into neutral events. Every chunk is a complete answer object with a few more parts. Text continues until
// a part of another kind, and calls are complete. The stream has no terminator, so finish reasons are held back until it closes.

import { prefixedId } from "../../../base/ids.ts";
import { lookUp } from "../../../base/look-up.ts";
import { parseFrame, type SseFrame } from "../../../base/sse.ts";
import type { AnswerFault } from "../../../chat/answer-fault.ts";
import type { ChatEvent, FinishReason, ImageEvent } from "../../../chat/event.ts";
import { refusalEvents } from "../../../chat/refusal.ts";
import { ToldUsage } from "../../../chat/usage.ts";
import { GEMINI_ENDS } from "../../../vendors/google.ts";
import type { EventReader, PlainReading } from "../../dialect.ts";
import { answerFault, type FaultText } from "../../fault-words.ts";
import { asCount, asList, asNumber, asRecord, asText, type Loose, parseRecord } from "../loose.ts";
import { GEMINI } from "./contents.ts";
import { plainGeminiEvents } from "./plain-answer.ts";
import { geminiUsage } from "./usage.ts";

/** The state of one candidate. */
interface Candidate {
  /** `signature`: of the reasoning, or of what follows the text, which stays open since its grounding may come later. */
  open: { kind: "text" | "reasoning"; id: string; signature: string | undefined } | undefined;
  calledTools: boolean;
  rawReason: string | undefined;
  /** Why the answer was withheld. */
  finishMessage?: string | undefined;
  /** What the text rests on, which is known with its last chunk. */
  grounding?: unknown;
}

/** Maximum number of candidates, which limits the memory that a hostile stream can use. The protocol allows eight. */
const CANDIDATES_MAX = 64;

/** The counts of tokens, which grow from chunk to chunk. */
const COUNTS = /"(?:(?:prompt|candidates|total|thoughts)TokenCount|tokenCount)"\s*:\s*/g;

/** Reads one answer. */
export class GeminiReader implements EventReader {
  readonly #candidates = new Map<number, Candidate>();
  #ids = 0;
  #calls = 0;
  #started = false;
  #done = false;
  #responseId = "";
  #blocked: string | undefined;
  /** Why the prompt was blocked, in words. */
  #blockMessage: string | undefined;
  readonly #told = new ToldUsage();
  /** The last of the frames that were passed, of which the usage is not read yet. */
  #passed: string | undefined;
  readonly plain: PlainReading = {
    textOf: partText,
    varying: COUNTS,
    passed: (_chars, last) => {
      this.#passed = last;
    },
  };

  push(frame: SseFrame, out: ChatEvent[]): void {
    this.#readPassed();
    if (this.#done || frame.data === "" || frame.data === "[DONE]") return;
    let value: unknown;
    try {
      value = JSON.parse(frame.data);
    } catch {
      this.#fail({ code: "provider_stream_interrupted", message: "The provider sent a broken event." }, out);
      return;
    }
    this.take(value, out);
  }

  /** Frames differ in their counts too, of which the last ones are those of all that was written. */
  #readPassed(): void {
    if (this.#passed === undefined) return;
    const chunk = parseRecord(parseFrame(this.#passed.slice(0, -2))?.data ?? "") ?? {};
    this.#passed = undefined;
    this.#told.tell(geminiUsage(asRecord(chunk["usageMetadata"]), chunk["candidates"]), chunk["usageMetadata"]);
    if (asRecord(chunk["usageMetadata"])["candidatesTokenCount"] === undefined) this.#told.wrote();
  }

  end(out: ChatEvent[]): void {
    this.#readPassed();
    if (this.#done) return;
    if (this.#candidates.size === 0 && this.#blocked !== undefined) {
      this.#candidates.set(0, { open: undefined, calledTools: false, rawReason: this.#blocked });
    }
    const candidates = [...this.#candidates].sort(([a], [b]) => a - b);
    if (candidates.length === 0 || candidates.some(([, one]) => one.rawReason === undefined)) {
      this.#fail({ code: "provider_stream_interrupted", message: "The provider ended the answer early." }, out);
      return;
    }
    const failed = candidates.map(([, one]) => failedGeminiEnd(one.rawReason ?? "")).find(Boolean);
    if (failed !== undefined) {
      this.#fail(failed, out);
      return;
    }
    this.#done = true;
    const { usage, raw: rawUsage } = this.#told;
    candidates.forEach(([choice, candidate], i) => {
      this.#close(choice, candidate, out);
      // A search that was offered and not made is told as an empty object.
      if (Object.keys(asRecord(candidate.grounding)).length > 0) this.#groundLate(choice, candidate, out);
      const last = i === candidates.length - 1;
      const reason = finishReason(candidate.rawReason, candidate.calledTools, this.#blocked !== undefined);
      const why = reason === "content_filter" ? (candidate.finishMessage ?? this.#blockMessage) : undefined;
      out.push(...refusalEvents(choice, `b${this.#ids++}`, why));
      out.push({
        type: "finish",
        choice,
        reason,
        ...(candidate.rawReason === undefined ? {} : { rawReason: candidate.rawReason }),
        ...(last && usage !== undefined ? { usage, rawUsage } : {}),
      });
    });
  }

  /** Reads one chunk, or the list of chunks that the API sends without server-sent events. */
  take(value: unknown, out: ChatEvent[]): void {
    if (Array.isArray(value)) {
      for (const chunk of value) if (!Array.isArray(chunk)) this.take(chunk, out);
      return;
    }
    if (this.#done) return;
    const chunk = asRecord(value);
    if (chunk["error"] !== undefined) {
      this.#fail(answerFault(geminiError(chunk["error"])), out);
      return;
    }
    const raw = chunk["usageMetadata"];
    this.#told.tell(geminiUsage(asRecord(raw), chunk["candidates"]), raw);
    const feedback = asRecord(chunk["promptFeedback"]);
    this.#blocked ??= asText(feedback["blockReason"]);
    this.#blockMessage ??= asText(feedback["blockReasonMessage"]);
    this.#start(chunk, out);
    const from = out.length;
    for (const candidate of asList(chunk["candidates"])) this.#candidate(asRecord(candidate), out);
    // The totals so far: without the count of the output, there is none for this chunk.
    if (asRecord(raw)["candidatesTokenCount"] === undefined) this.#told.follow(out, from);
  }

  #start(chunk: Loose, out: ChatEvent[]): void {
    if (this.#started) return;
    this.#started = true;
    const id = asText(chunk["responseId"]);
    const model = asText(chunk["modelVersion"]);
    this.#responseId = id ?? "";
    out.push({ type: "start", ...(id === undefined ? {} : { id }), ...(model === undefined ? {} : { model }) });
  }

  #candidate(value: Loose, out: ChatEvent[]): void {
    const choice = asCount(value["index"]) ?? 0;
    let candidate = this.#candidates.get(choice);
    if (candidate === undefined) {
      if (this.#candidates.size >= CANDIDATES_MAX) return;
      candidate = { open: undefined, calledTools: false, rawReason: undefined };
      this.#candidates.set(choice, candidate);
    }
    candidate.grounding = value["groundingMetadata"] ?? candidate.grounding;
    for (const part of asList(asRecord(value["content"])["parts"])) this.#part(choice, candidate, asRecord(part), out);
    candidate.rawReason = asText(value["finishReason"]) ?? candidate.rawReason;
    candidate.finishMessage = asText(value["finishMessage"]) ?? candidate.finishMessage;
  }

  #part(choice: number, candidate: Candidate, part: Loose, out: ChatEvent[]): void {
    const signature = asText(part["thoughtSignature"]);
    const text = asText(part["text"]);
    if (part["functionCall"] !== undefined) {
      this.#close(choice, candidate, out);
      this.#call(choice, candidate, asRecord(part["functionCall"]), signature, out);
      return;
    }
    if (text === undefined) {
      this.#close(choice, candidate, out);
      const source = pictureOf(part);
      if (source !== undefined) out.push({ type: "image", choice, source, origin: GEMINI, value: part });
      else if (Object.keys(part).length > 0) out.push({ type: "opaque", choice, origin: GEMINI, value: part });
      return;
    }
    const kind = part["thought"] === true ? "reasoning" : "text";
    // What is signed is complete.
    if (candidate.open?.kind === "text" && candidate.open.signature !== undefined && text + (signature ?? "") !== "")
      this.#close(choice, candidate, out);
    if (text !== "") {
      const id = this.#open(choice, candidate, kind, out);
      out.push({ type: kind === "text" ? "text-delta" : "reasoning-delta", choice, id, text });
    }
    if (signature === undefined) return;
    // A signature on text belongs to the thinking before it. It becomes reasoning, which every format supports.
    if (kind === "text" && candidate.open?.kind === "text") {
      candidate.open.signature = signature;
      return;
    }
    this.#sign(choice, candidate, signature, out);
  }

  /** Puts a signature on the open reasoning, or on one without text. */
  #sign(choice: number, candidate: Candidate, signature: string, out: ChatEvent[]): void {
    this.#open(choice, candidate, "reasoning", out);
    if (candidate.open !== undefined) candidate.open.signature = signature;
    this.#close(choice, candidate, out);
  }

  #open(choice: number, candidate: Candidate, kind: "text" | "reasoning", out: ChatEvent[]): string {
    if (candidate.open?.kind === kind) return candidate.open.id;
    this.#close(choice, candidate, out);
    const id = `b${this.#ids++}`;
    candidate.open = { kind, id, signature: undefined };
    out.push({ type: kind === "text" ? "text-start" : "reasoning-start", choice, id });
    return id;
  }

  #close(choice: number, candidate: Candidate, out: ChatEvent[]): void {
    const { open } = candidate;
    if (open === undefined) return;
    candidate.open = undefined;
    const { id, signature } = open;
    if (open.kind === "text") {
      const { grounding } = candidate;
      candidate.grounding = undefined;
      out.push({ type: "text-end", choice, id, ...(grounding === undefined ? {} : { annotations: [grounding] }) });
      if (signature !== undefined) this.#sign(choice, candidate, signature, out);
    } else {
      const signed = signature === undefined ? {} : { signature, origin: GEMINI };
      out.push({ type: "reasoning-end", choice, id, ...signed });
    }
  }

  /** What the answer rests on came after its last text, which a call or a picture had ended. */
  #groundLate(choice: number, candidate: Candidate, out: ChatEvent[]): void {
    this.#open(choice, candidate, "text", out);
    this.#close(choice, candidate, out);
  }

  #call(choice: number, candidate: Candidate, call: Loose, signature: string | undefined, out: ChatEvent[]): void {
    candidate.calledTools = true;
    const id = `b${this.#ids++}`;
    out.push({
      type: "tool-start",
      choice,
      id,
      callId: asText(call["id"]) || this.#callId(),
      name: asText(call["name"]) ?? "",
      kind: "function",
      ...(signature === undefined ? {} : { signature }),
    });
    out.push({ type: "tool-delta", choice, id, text: JSON.stringify(call["args"] ?? {}) });
    out.push({ type: "tool-end", choice, id });
  }

  /**
   * Creates an id for a call without one. It is unique in the conversation: derived from the answer's id if there is one,
   * otherwise random.
   */
  #callId(): string {
    const number = this.#calls++;
    return this.#responseId === "" ? prefixedId("call_") : `call_${this.#responseId}_${number}`;
  }

  #fail(fault: AnswerFault, out: ChatEvent[]): void {
    this.#done = true;
    const { usage } = this.#told;
    out.push({ type: "error", ...fault, ...(usage === undefined ? {} : { usage }) });
  }
}

/** The piece of a text or of reasoning in a chunk that has nothing else but counts. */
function partText(chunk: Loose): string | undefined {
  const [candidates, parts] = [
    asList(chunk["candidates"]),
    asList(asRecord(asRecord(asList(chunk["candidates"])[0])["content"])["parts"]),
  ];
  if (
    candidates.length !== 1 ||
    parts.length !== 1 ||
    chunk["error"] !== undefined ||
    chunk["promptFeedback"] !== undefined
  )
    return undefined;
  const { groundingMetadata, finishReason, finishMessage } = asRecord(candidates[0]);
  const { functionCall, thoughtSignature, text } = asRecord(parts[0]);
  const others = [groundingMetadata, finishReason, finishMessage, functionCall, thoughtSignature];
  return others.every((value) => value === undefined) ? asText(text) : undefined;
}

/** The picture in a part; undefined for other files, which no other protocol has. */
function pictureOf(part: Loose): ImageEvent["source"] | undefined {
  const { mimeType, data } = asRecord(part["inlineData"]);
  if (typeof mimeType !== "string" || !mimeType.startsWith("image/") || typeof data !== "string") return undefined;
  return { kind: "base64", mediaType: mimeType, data };
}

/** The events of a whole answer. */
export function geminiEvents(body: unknown): ChatEvent[] {
  const answer = asRecord(Array.isArray(body) ? body[0] : body);
  if (answer["candidates"] === undefined && answer["promptFeedback"] === undefined && answer["error"] === undefined) {
    return [{ type: "error", code: "provider_unavailable", message: "The provider's answer has no candidates." }];
  }
  const plain = answer === body ? plainGeminiEvents(answer) : undefined;
  if (plain !== undefined) return plain;
  const reader = new GeminiReader();
  const out: ChatEvent[] = [];
  reader.take(body, out);
  reader.end(out);
  return out;
}

/** Finish reasons that are failures, since the model's text is withheld or cannot be used. */
const FAILED_ENDS: Readonly<Record<string, AnswerFault>> = {
  MALFORMED_FUNCTION_CALL: {
    code: "tool_arguments_invalid",
    message: "The model's tool call is malformed.",
  },
  UNEXPECTED_TOOL_CALL: { code: "tool_arguments_invalid", message: "The model called a tool that it was not offered." },
  TOO_MANY_TOOL_CALLS: {
    code: "tool_arguments_invalid",
    message: "The model kept calling tools, and the provider stopped it.",
  },
  MALFORMED_RESPONSE: { code: "provider_answer_invalid", message: "The model's answer cannot be read." },
  MISSING_THOUGHT_SIGNATURE: {
    code: "invalid_request",
    message: "The history contains a tool call without its thought signature.",
  },
};

/** The failure that a finish reason means; undefined for ends. */
export function failedGeminiEnd(reason: string): AnswerFault | undefined {
  return lookUp(FAILED_ENDS, reason);
}

function finishReason(raw: string | undefined, calledTools: boolean, blocked: boolean): FinishReason {
  const end = blocked ? "content_filter" : GEMINI_ENDS.find(({ word }) => word.test(raw ?? ""))?.means;
  if (end !== undefined) return end;
  if (calledTools) return "tool_calls";
  return raw === "STOP" ? "stop" : "unknown";
}

/** Reads an error object `{code,message,status}`, in which the code is an HTTP status and the status is a word. */
export function geminiError(value: unknown): FaultText {
  const error = asRecord(value);
  const status = asNumber(error["code"]);
  const type = asText(error["status"]);
  return {
    message: asText(error["message"]) || "The provider reported an error.",
    ...(type === undefined ? {} : { type }),
    ...(status === undefined ? {} : { status }),
  };
}
