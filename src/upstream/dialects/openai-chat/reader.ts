// Reads OpenAI chat completions into neutral events. A whole answer is read as one large chunk. Finish reasons are held back
// until the end of the stream, because the usage chunk comes after `finish_reason`.

import { prefixedId } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json-object.ts";
import type { SseFrame } from "../../../base/sse.ts";
import type { AnswerFault } from "../../../chat/answer-fault.ts";
import type { ChatEvent, ImageEvent } from "../../../chat/event.ts";
import { ToldUsage } from "../../../chat/usage.ts";
import type { EventReader, PlainReading } from "../../dialect.ts";
import { answerFault } from "../../fault-words.ts";
import { openaiError } from "../openai-error.ts";
import { addDetails, detailsText, googleSignature } from "./details.ts";
import { onlyText } from "./only-text.ts";
import { pageAnnotations, pagesBeside } from "./pages-beside.ts";
import { plainEvents, startEvent } from "./plain-answer.ts";
import { argumentText, CallTable, type GrowingCall } from "./tools.ts";
import { failedEnd, openaiFinish, openaiUsage, usagesIn } from "./usage.ts";

type Json = Readonly<Record<string, unknown>>;

/** The state of one choice. */
interface Choice {
  index: number;
  textId: string | undefined;
  refusal: boolean;
  reasoningId: string | undefined;
  details: Record<string, unknown>[];
  table: CallTable;
  /** The calls whose start event was sent and that are still open. */
  open: Map<GrowingCall, { id: string; sent: number }>;
  closed: Set<GrowingCall>;
  annotations: unknown[];
  /** The text that pages beside the choices are cited in; undefined if it began before they were known. */
  cites: string | undefined;
  reason: string | undefined;
}

/** The protocol's name in `origin`. */
const ORIGIN = "openai-chat";
/** Maximum number of choices. OpenAI's own limit of `n` is 128. */
const CHOICES_MAX = 128;

export class OpenaiChatReader implements EventReader {
  readonly #choices = new Map<number, Choice>();
  #blocks = 0;
  #started = false;
  #over = false;
  /** Pages that the text cites by number. */
  #beside: ReturnType<typeof pagesBeside>;
  readonly #told = new ToldUsage();
  readonly plain: PlainReading = {
    // The text is kept if pages beside it may be cited there.
    textOf: (chunk) => (this.#beside === undefined ? onlyText(chunk) : undefined),
    passed: () => this.#told.wrote(),
  };

  push({ data }: SseFrame, out: ChatEvent[]): void {
    if (this.#over) return;
    if (data === "[DONE]") {
      this.#finishAll(out);
      return;
    }
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch {
      this.#fail("The provider sent an event that is not JSON.", out);
      return;
    }
    this.chunk(chunk, out);
  }

  end(out: ChatEvent[]): void {
    if (this.#over) return;
    const waiting = [...this.#choices.values()].some((choice) => choice.reason === undefined);
    if (this.#choices.size === 0 || waiting) this.#fail("The provider's answer was cut off.", out);
    else this.#finishAll(out);
  }

  /** Reads one parsed chunk. `asChunk` converts the choices of a whole answer to those of a chunk. */
  chunk(chunk: unknown, out: ChatEvent[], asChunk?: (choice: unknown, at: number) => unknown): void {
    if (this.#over) return;
    if (!isRecord(chunk)) {
      this.#fail("The provider sent an event that is not a completion chunk.", out);
      return;
    }
    if (chunk["error"] !== undefined && chunk["error"] !== null) {
      this.#failWith(chatError(chunk["error"]), out);
      return;
    }
    this.#start(chunk, out);
    const beside = pagesBeside(chunk);
    if (beside !== undefined) this.#beside = beside;
    const reports = usagesIn(chunk);
    for (const raw of reports) this.#told.tell(openaiUsage(raw, chunk), raw);
    const from = out.length;
    const choices = Array.isArray(chunk["choices"]) ? chunk["choices"] : [];
    for (let at = 0; at < choices.length; at++) {
      const choice = asChunk === undefined ? choices[at] : asChunk(choices[at], at);
      if (isRecord(choice) && !this.#over) this.#choice(choice, out);
    }
    if (reports.length === 0) this.#told.follow(out, from);
  }

  #start(chunk: Json, out: ChatEvent[]): void {
    if (this.#started) return;
    this.#started = true;
    out.push(startEvent(chunk));
  }

  #choice(raw: Json, out: ChatEvent[]): void {
    const index = typeof raw["index"] === "number" ? raw["index"] : 0;
    let choice = this.#choices.get(index);
    if (choice === undefined) {
      if (this.#choices.size >= CHOICES_MAX) return;
      choice = {
        index,
        textId: undefined,
        refusal: false,
        reasoningId: undefined,
        details: [],
        table: new CallTable(),
        open: new Map(),
        closed: new Set(),
        annotations: [],
        cites: "",
        reason: undefined,
      };
      this.#choices.set(index, choice);
    }
    if (choice.reason !== undefined) return;
    const delta = isRecord(raw["delta"]) ? raw["delta"] : {};
    const logprobs =
      isRecord(raw["logprobs"]) && Array.isArray(raw["logprobs"]["content"]) ? raw["logprobs"]["content"] : undefined;
    this.#delta(choice, delta, logprobs, out);
    if (typeof raw["finish_reason"] === "string" && raw["finish_reason"] !== "") {
      const failed = failedEnd(raw["finish_reason"], raw["error"]);
      if (failed !== undefined) {
        this.#failWith(failed, out);
        return;
      }
      choice.reason = raw["finish_reason"];
      if (this.#beside !== undefined) this.#cite(choice, raw["message"], this.#beside);
      this.#closeAll(choice, out);
    }
  }

  #delta(choice: Choice, delta: Json, logprobs: unknown[] | undefined, out: ChatEvent[]): void {
    const details = delta["reasoning_details"];
    const reasoning = delta["reasoning_content"] ?? delta["reasoning"] ?? detailsText(details);
    const sealed = Array.isArray(details) && details.length > 0;
    if ((typeof reasoning === "string" && reasoning !== "") || sealed)
      this.#reason(choice, typeof reasoning === "string" ? reasoning : "", out);
    if (sealed) addDetails(choice.details, details);
    const content = delta["content"];
    if (typeof content === "string") {
      if (content !== "" || logprobs !== undefined) this.#text(choice, content, logprobs, out);
    } else if (Array.isArray(content)) this.#parts(choice, content, out);
    else if (logprobs !== undefined && isSilent(choice, delta) && logprobs.length > 0)
      this.#text(choice, "", logprobs, out);
    if (Array.isArray(delta["images"])) this.#pictures(choice, delta["images"], out);
    if (Array.isArray(delta["annotations"])) choice.annotations.push(...delta["annotations"]);
    if (typeof delta["refusal"] === "string" && delta["refusal"] !== "")
      this.#text(choice, delta["refusal"], undefined, out, true);
    if (Array.isArray(delta["tool_calls"]))
      for (const call of delta["tool_calls"]) if (isRecord(call)) this.#call(choice, call, out);
    // The legacy form of calls, from before there were tools.
    if (isRecord(delta["function_call"])) this.#call(choice, { index: 0, function: delta["function_call"] }, out);
  }

  /** Cites the pages beside the choices. Perplexity's last chunk has the whole message too. */
  #cite(choice: Choice, message: unknown, pages: NonNullable<ReturnType<typeof pagesBeside>>): void {
    if (choice.textId === undefined || choice.annotations.length > 0) return;
    const whole = isRecord(message) ? message["content"] : undefined;
    choice.annotations.push(...pageAnnotations(pages, typeof whole === "string" ? whole : choice.cites));
  }

  /** Reads content in parts, which Mistral streams while the model thinks. */
  #parts(choice: Choice, parts: readonly unknown[], out: ChatEvent[]): void {
    for (const part of parts) {
      if (!isRecord(part)) continue;
      if (part["type"] === "text" && typeof part["text"] === "string") this.#text(choice, part["text"], undefined, out);
      const thoughts = part["type"] === "thinking" && Array.isArray(part["thinking"]) ? part["thinking"] : [];
      for (const thought of thoughts)
        if (isRecord(thought) && typeof thought["text"] === "string") this.#reason(choice, thought["text"], out);
    }
  }

  /** Reads pictures, which OpenRouter sends beside the content. */
  #pictures(choice: Choice, images: readonly unknown[], out: ChatEvent[]): void {
    this.#closeReasoning(choice, out);
    this.#closeText(choice, out);
    for (const image of images) {
      const url = isRecord(image) && isRecord(image["image_url"]) ? image["image_url"]["url"] : undefined;
      if (typeof url === "string") out.push({ type: "image", choice: choice.index, source: pictureSource(url) });
    }
  }

  #reason(choice: Choice, text: string, out: ChatEvent[]): void {
    if (choice.reasoningId === undefined) {
      this.#closeText(choice, out);
      choice.reasoningId = this.#nextId();
      out.push({ type: "reasoning-start", choice: choice.index, id: choice.reasoningId });
    }
    if (text !== "") out.push({ type: "reasoning-delta", choice: choice.index, id: choice.reasoningId, text });
  }

  #text(choice: Choice, text: string, logprobs: unknown[] | undefined, out: ChatEvent[], refusal = false): void {
    if (choice.textId !== undefined && choice.refusal !== refusal) this.#closeText(choice, out);
    if (choice.textId === undefined) {
      this.#closeReasoning(choice, out);
      choice.textId = this.#nextId();
      choice.refusal = refusal;
      out.push({ type: "text-start", choice: choice.index, id: choice.textId, ...(refusal ? { refusal } : {}) });
    }
    // The pages of a whole answer are known before its text, and those of most streams.
    if (choice.cites !== undefined) choice.cites = this.#beside && choice.cites + text;
    out.push(
      logprobs === undefined
        ? { type: "text-delta", choice: choice.index, id: choice.textId, text }
        : { type: "text-delta", choice: choice.index, id: choice.textId, text, logprobs },
    );
  }

  #call(choice: Choice, raw: Json, out: ChatEvent[]): void {
    const custom = isRecord(raw["custom"]) ? raw["custom"] : undefined;
    const fn = custom ?? (isRecord(raw["function"]) ? raw["function"] : {});
    const found = choice.table.find({ index: raw["index"], id: raw["id"], name: fn["name"] });
    if (found === undefined) return;
    const { call } = found;
    if (call.id === "" && typeof raw["id"] === "string" && raw["id"] !== "") call.id = raw["id"];
    // The name is never split, but some servers repeat it in every fragment.
    if (call.name === "" && typeof fn["name"] === "string") call.name = fn["name"];
    let text = argumentText(custom === undefined ? fn["arguments"] : fn["input"]);
    // Some servers send `{}` beside the name as a placeholder before the real fragments.
    if (found.isNew && text === "{}") text = "";
    call.text += text;
    call.json.push(text);
    if (call.name === "") return;
    this.#stream(choice, call, { custom: custom !== undefined, signature: googleSignature(raw) }, out);
  }

  /** Sends the part of a call that was not sent yet. Opens the call first, and closes earlier calls that are complete. */
  #stream(
    choice: Choice,
    call: GrowingCall,
    { custom, signature }: { custom: boolean; signature: string | undefined },
    out: ChatEvent[],
  ): void {
    // The call was closed because its arguments were complete JSON. More text could only make them invalid.
    if (choice.closed.has(call)) return;
    let state = choice.open.get(call);
    if (state === undefined) {
      this.#closeReasoning(choice, out);
      this.#closeText(choice, out);
      for (const other of [...choice.open.keys()]) if (other.json.complete) this.#closeCall(choice, other, out);
      if (call.id === "") call.id = prefixedId("call_");
      state = { id: this.#nextId(), sent: 0 };
      choice.open.set(call, state);
      const kind = custom ? "custom" : "function";
      const signed = signature === undefined ? {} : { signature, origin: ORIGIN };
      const { id: callId, name } = call;
      out.push({ type: "tool-start", choice: choice.index, id: state.id, callId, name, kind, ...signed });
    }
    if (call.text.length > state.sent) {
      out.push({ type: "tool-delta", choice: choice.index, id: state.id, text: call.text.slice(state.sent) });
      state.sent = call.text.length;
    }
  }

  #closeCall(choice: Choice, call: GrowingCall, out: ChatEvent[]): void {
    const state = choice.open.get(call);
    if (state === undefined) return;
    choice.open.delete(call);
    choice.closed.add(call);
    out.push({ type: "tool-end", choice: choice.index, id: state.id });
  }

  #closeText(choice: Choice, out: ChatEvent[]): void {
    if (choice.textId === undefined) return;
    const annotations = choice.annotations.length > 0 ? { annotations: choice.annotations } : {};
    choice.annotations = [];
    out.push({ type: "text-end", choice: choice.index, id: choice.textId, ...annotations });
    choice.textId = undefined;
  }

  #closeReasoning(choice: Choice, out: ChatEvent[]): void {
    if (choice.reasoningId === undefined) return;
    const { details } = choice;
    const sealed = details.length > 0 ? { details, origin: ORIGIN } : {};
    out.push({ type: "reasoning-end", choice: choice.index, id: choice.reasoningId, ...sealed });
    choice.reasoningId = undefined;
    choice.details = [];
  }

  #closeAll(choice: Choice, out: ChatEvent[]): void {
    this.#closeReasoning(choice, out);
    this.#closeText(choice, out);
    for (const call of [...choice.open.keys()]) this.#closeCall(choice, call, out);
    // Notes that came after the last text, which reasoning, a call or a picture had ended.
    if (choice.annotations.length > 0) this.#text(choice, "", undefined, out);
    this.#closeText(choice, out);
  }

  #finishAll(out: ChatEvent[]): void {
    if (this.#choices.size === 0) {
      this.#fail("The provider returned an empty answer.", out);
      return;
    }
    this.#over = true;
    const choices = [...this.#choices.values()];
    const { usage } = this.#told;
    choices.forEach((choice, at) => {
      this.#closeAll(choice, out);
      out.push({
        type: "finish",
        choice: choice.index,
        reason: openaiFinish(choice.reason ?? "", choice.closed.size > 0),
        ...(choice.reason === undefined ? {} : { rawReason: choice.reason }),
        ...(at === choices.length - 1 && usage !== undefined ? { usage, rawUsage: this.#told.raw } : {}),
      });
    });
  }

  #fail(message: string, out: ChatEvent[]): void {
    this.#failWith({ code: "provider_stream_interrupted", message }, out);
  }

  #failWith(fault: AnswerFault, out: ChatEvent[]): void {
    this.#over = true;
    const { usage } = this.#told;
    out.push({ type: "error", ...fault, ...(usage === undefined ? {} : { usage }) });
  }

  #nextId(): string {
    return `b${this.#blocks++}`;
  }
}

/**
 * Whether a delta contains only log probabilities: some engines omit the text if one token was requested. Deltas with reasoning
 * or calls are not affected.
 */
function isSilent({ reasoningId, open }: Choice, delta: Json): boolean {
  const said = ["reasoning_content", "reasoning", "refusal", "function_call"].some((name) => delta[name]);
  const calls = delta["tool_calls"];
  return !said && !(Array.isArray(calls) && calls.length > 0) && reasoningId === undefined && open.size === 0;
}

/** The error for an error object within a stream or an answer. */
export function chatError(error: unknown): AnswerFault {
  return answerFault(openaiError(error), "provider_stream_interrupted");
}

/** The events of a whole answer, whose message is read as one large delta. */
export function openaiChatEvents(body: unknown): ChatEvent[] {
  return plainEvents(body) ?? otherEvents(body);
}

/** The same for any answer, however plain it is. */
export function otherEvents(body: unknown): ChatEvent[] {
  const out: ChatEvent[] = [];
  const reader = new OpenaiChatReader();
  reader.chunk(body, out, asChunkChoice);
  reader.push({ event: undefined, data: "[DONE]" }, out);
  return out;
}

function asChunkChoice(choice: unknown, at: number): Json {
  if (!isRecord(choice)) return { index: at, delta: {} };
  const { index, message, logprobs, finish_reason, error } = choice;
  const delta = isRecord(message) ? message : {};
  const calls = delta["tool_calls"];
  if (!Array.isArray(calls) || calls.length === 0) return { index: index ?? at, delta, logprobs, finish_reason, error };
  // The calls of whole answers have no index, so their position is used.
  const tool_calls = calls.map((call, index) => (isRecord(call) ? { ...call, index } : call));
  return { index: index ?? at, delta: { ...delta, tool_calls }, logprobs, finish_reason, error };
}

/** A picture by its URL, which usually contains it. */
function pictureSource(url: string): ImageEvent["source"] {
  const comma = url.indexOf(",");
  const mediaType = /^data:([^;,]{1,100});base64$/.exec(url.slice(0, Math.max(0, comma)).slice(0, 200))?.[1];
  return mediaType === undefined ? { kind: "url", url } : { kind: "base64", mediaType, data: url.slice(comma + 1) };
}
