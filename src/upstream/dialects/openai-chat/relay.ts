// Relays OpenAI chat streams: frames pass unchanged except for id and model. Nearly all frames repeat the last plain text frame
// with another text; they are recognised by comparing bytes and never parsed. The required order of frames (role first, empty
// delta with the finish reason, usage alone and only on request, [DONE] last) is restored if necessary.

import { isRecord } from "../../../base/json-object.ts";
import { repairJson } from "../../../base/json-repair.ts";
import { spliceMembers } from "../../../base/json-splice.ts";
import { parseFrame } from "../../../base/sse.ts";
import { type AnswerFault, type AnswerFaultCode, afterContent } from "../../../chat/answer-fault.ts";
import type { Usage } from "../../../chat/event.ts";
import type { FrameRelay, RelayIdentity } from "../../dialect.ts";
import type { OutputText } from "../../output-text.ts";
import { noteSeals } from "./details.ts";
import { HeldUsage } from "./held-usage.ts";
import { chatError } from "./reader.ts";
import { prepareLone, type TextTemplate, templateOf, textEnd, writtenText } from "./text-template.ts";
import { argumentText, CallTable, type GrowingCall } from "./tools.ts";
import { failedEnd } from "./usage.ts";

type Json = Record<string, unknown>;

/** The tool calls of one choice, and how much of their arguments was relayed. */
interface ChoiceState {
  table: CallTable;
  sent: Map<GrowingCall, string>;
  /** Whether a custom call occurred. Such calls contain free text, which needs no check. */
  calledCustom: boolean;
  finished: boolean;
  roleSent: boolean;
}

export class OpenaiChatRelay implements FrameRelay {
  readonly #identity: RelayIdentity;
  readonly #choices = new Map<number, ChoiceState>();
  readonly #output: OutputText;
  #template: TextTemplate | undefined;
  readonly #held: HeldUsage;
  #fault: AnswerFault | undefined;
  #done = false;
  #committed = false;

  constructor(identity: RelayIdentity) {
    this.#identity = identity;
    this.#held = new HeldUsage(identity);
    this.#output = this.#held.output;
  }

  get finished(): boolean {
    return this.#done && this.#fault === undefined;
  }
  get committed(): boolean {
    return this.#committed;
  }
  get fault(): AnswerFault | undefined {
    return this.#fault;
  }
  get usage(): Usage | undefined {
    return this.#held.spent;
  }
  get output(): OutputText {
    return this.#output;
  }

  push(block: string): string {
    let out = "";
    let at = 0;
    // Consecutive frames that pass unchanged are copied at once.
    let passFrom = 0;
    // Whether the frame before was a plain one of which the end is still to be written.
    let isOpen = false;
    let isPlain = false;
    while (at < block.length && !this.#done) {
      const template = this.#template;
      if (template !== undefined && (isPlain || block.startsWith(template.prefix, at))) {
        const textFrom = at + template.prefix.length;
        const textTo = textEnd(block, textFrom);
        // Nearly always, another plain frame follows or the block ends.
        isPlain = textTo >= 0 && block.startsWith(template.between, textTo);
        const isLast = !isPlain && textTo >= 0 && block.startsWith(template.suffix, textTo);
        const text = block.slice(textFrom, textTo);
        const written = isPlain || isLast ? writtenText(text) : undefined;
        if (written !== undefined) {
          const next = textTo + template.suffix.length;
          if (at === 0 && next === block.length) prepareLone(template);
          this.#output.add(written);
          if (!template.same) {
            if (passFrom < at) out += block.slice(passFrom, at);
            out = out + (isOpen ? template.ourBetween : template.ourPrefix) + text;
            isOpen = true;
            passFrom = next;
          }
          at = next;
          continue;
        }
      }
      isPlain = false;
      if (isOpen) out += template?.ourSuffix ?? "";
      isOpen = false;
      const found = block.indexOf("\n\n", at);
      const next = found < 0 ? block.length : found + 2;
      if (passFrom < at) out += block.slice(passFrom, at);
      out += this.#frame(block.slice(at, next));
      at = next;
      passFrom = next;
    }
    if (isOpen) out += this.#template?.ourSuffix ?? "";
    return passFrom < at && passFrom < block.length ? out + block.slice(passFrom, at) : out;
  }

  rewritten(bytes: Uint8Array, from: number, to: number): Uint8Array | undefined {
    return this.#done ? undefined : this.#template?.lone?.rewritten(bytes, from, to, this.#output);
  }

  end(): string {
    if (this.#done) return "";
    const states = [...this.#choices.values()];
    if (states.length > 0 && states.every((state) => state.finished)) return this.#close();
    return this.#fail("provider_stream_interrupted", "The provider's answer was cut off.");
  }

  #frame(raw: string): string {
    const frame = parseFrame(raw.replace(/\n+$/, ""));
    // Comments are keepalives, so they pass.
    if (frame === undefined) return raw.trim() === "" ? "" : raw;
    if (frame.data === "[DONE]") return this.#doneFrame();
    // JSON in several data lines is only split between its tokens, so it can be sent as one line.
    const data = frame.data.includes("\n") ? frame.data.replaceAll("\n", " ") : frame.data;
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch {
      return this.#fail("provider_stream_interrupted", "The provider sent an event that is not JSON.");
    }
    if (!isRecord(chunk)) return raw;
    if (chunk["error"] != null) {
      return this.#failWith(chatError(chunk["error"]));
    }
    return this.#chunk(data, chunk);
  }

  #chunk(data: string, chunk: Readonly<Json>): string {
    const put = this.#content(data, chunk);
    this.#held.frameEnded();
    return put;
  }

  #content(data: string, chunk: Readonly<Json>): string {
    const choices = (Array.isArray(chunk["choices"]) ? chunk["choices"] : []).filter(isRecord);
    const members = this.#held.take(data, chunk, choices.length === 0);
    if (members === undefined) return "";
    const spliced = spliceMembers(data, members, chunk);
    const only = choices.length === 1 ? choices[0] : undefined;
    if (only !== undefined && this.#isPlainText(only)) {
      this.#template = templateOf(data, spliced) ?? this.#template;
      this.#output.add((only["delta"] as Json)["content"] as string);
      this.#committed = true;
      return `data: ${spliced}\n\n`;
    }
    return this.#special(spliced, { ...chunk, ...members }, choices);
  }

  /** Whether a choice contains nothing but a piece of text. */
  #isPlainText(choice: Readonly<Json>): boolean {
    const delta = choice["delta"];
    if (!isRecord(delta) || typeof delta["content"] !== "string" || delta["content"] === "") return false;
    if (choice["finish_reason"] != null || delta["tool_calls"] != null || delta["role"] !== undefined) return false;
    return this.#choices.get(numberOr(choice["index"], 0))?.roleSent === true && Object.keys(delta).length === 1;
  }

  /** Handles frames with a role, tool calls, reasoning, a finish reason or several choices. */
  #special(spliced: string, chunk: Readonly<Json>, choices: readonly Readonly<Json>[]): string {
    let changed = false;
    let before = "";
    let after = "";
    const kept: Json[] = [];
    for (const original of choices) {
      const choice: Json = { ...original };
      const index = numberOr(choice["index"], 0);
      const state = this.#state(index);
      const delta: Json = isRecord(choice["delta"]) ? { ...choice["delta"] } : {};
      if (!state.roleSent) {
        state.roleSent = true;
        if (delta["role"] === undefined)
          before += this.#write(chunk, { index, delta: { role: "assistant", content: "" }, finish_reason: null });
      }
      this.#note(delta);
      const calls = this.#calls(state, delta);
      if (this.#fault !== undefined) return before + this.#failText();
      if (calls !== delta["tool_calls"]) {
        changed = true;
        if (calls === undefined) delete delta["tool_calls"];
        else delta["tool_calls"] = calls;
      }
      const finish = choice["finish_reason"];
      if (typeof finish === "string" && finish !== "") {
        const failed = failedEnd(finish, choice["error"]);
        if (failed !== undefined) return before + this.#failWith(failed);
        const ending = this.#finish(state, choice, delta, finish);
        if (this.#fault !== undefined) return before + this.#failText();
        if (ending.split) {
          changed = true;
          if (Object.keys(delta).length > 0) before += this.#write(chunk, { ...choice, delta, finish_reason: null });
          for (const fragment of ending.fragments)
            before += this.#write(chunk, { index, delta: fragment, finish_reason: null });
          after += this.#write(chunk, { ...choice, delta: {}, finish_reason: ending.reason });
          continue;
        }
        if (Object.keys(delta).length > 0) {
          // The delta beside a finish reason must be empty; members without content are removed too.
          changed = true;
          kept.push({ ...choice, delta: {} });
          continue;
        }
      }
      kept.push({ ...choice, delta });
    }
    if (!changed) return `${before}data: ${spliced}\n\n`;
    const useful = kept.filter(
      (choice) => choice["finish_reason"] != null || Object.keys(choice["delta"] as Json).length > 0,
    );
    return before + (useful.length > 0 ? `data: ${JSON.stringify({ ...chunk, choices: useful })}\n\n` : "") + after;
  }

  /** Counts output that does not go through the template. */
  #note(delta: Readonly<Json>): void {
    noteSeals(delta, this.#identity);
    // The form of OpenRouter.
    if (Array.isArray(delta["images"])) this.#output.addPictures(delta["images"].length);
    for (const name of ["content", "reasoning_content", "reasoning", "refusal"]) {
      const text = delta[name];
      if (typeof text !== "string" || text === "") continue;
      this.#committed = true;
      // Servers that send both names send the same text under both.
      if (name !== "reasoning" || typeof delta["reasoning_content"] !== "string") this.#output.add(text);
    }
  }

  /**
   * The fragments of tool calls as they may be sent: with distinct indexes, and with argument text only as long as it begins
   * valid JSON. Returns the same array if nothing had to change.
   */
  #calls(state: ChoiceState, delta: Readonly<Json>): unknown {
    const fragments = delta["tool_calls"];
    if (!Array.isArray(fragments) || fragments.length === 0) return fragments;
    this.#committed = true;
    let changed = false;
    const out: Json[] = [];
    for (const fragment of fragments) {
      if (!isRecord(fragment)) continue;
      if (isRecord(fragment["custom"])) {
        state.calledCustom = true;
        this.#output.add(argumentText(fragment["custom"]["input"]));
        out.push({ ...fragment });
        continue;
      }
      const fn = isRecord(fragment["function"]) ? fragment["function"] : {};
      const found = state.table.find({ index: fragment["index"], id: fragment["id"], name: fn["name"] });
      if (found === undefined) {
        out.push({ ...fragment });
        continue;
      }
      const { call } = found;
      if (call.id === "" && typeof fragment["id"] === "string") call.id = fragment["id"];
      if (call.name === "" && typeof fn["name"] === "string") {
        call.name = fn["name"];
        this.#output.add(call.name);
      }
      const given = fn["arguments"];
      const text = argumentText(given);
      call.text += text;
      this.#output.add(text);
      const flows = call.json.push(text);
      const sent = state.sent.get(call) ?? "";
      if (flows) state.sent.set(call, sent + text);
      const next: Json = { ...fragment };
      if (call.index !== fragment["index"]) {
        next["index"] = call.index;
        changed = true;
      }
      if (!flows || (given !== undefined && typeof given !== "string")) {
        changed = true;
        next["function"] = { ...fn, arguments: flows ? text : "" };
        if (!flows && !found.isNew) continue;
      }
      out.push(next);
    }
    return changed ? (out.length > 0 ? out : undefined) : fragments;
  }

  /** The corrected finish frame of a choice. `split`: it must become several frames. */
  #finish(
    state: ChoiceState,
    choice: Readonly<Json>,
    delta: Readonly<Json>,
    finish: string,
  ): { split: boolean; reason: string; fragments: Json[] } {
    state.finished = true;
    const fragments: Json[] = [];
    for (const call of state.table.calls) {
      const sent = state.sent.get(call) ?? "";
      if (call.json.complete && sent === call.text) continue;
      // Valid but truncated arguments are closed. Others are repaired, as far as the part that was already sent allows.
      const closing = sent === call.text ? call.json.closing(call.text) : undefined;
      const repaired = closing === undefined ? repairJson(call.text) : call.text + closing;
      if (repaired === undefined || !repaired.startsWith(sent)) {
        this.#fault = {
          code: "tool_arguments_invalid",
          message: `The model called ${call.name} with arguments that are not valid JSON.`,
        };
        break;
      }
      fragments.push({ tool_calls: [{ index: call.index, function: { arguments: repaired.slice(sent.length) } }] });
    }
    const called = state.table.calls.length > 0 || state.calledCustom;
    const reason = called && finish === "stop" ? "tool_calls" : finish;
    // The delta of a finish frame must be empty.
    const full = Object.entries(delta).some(
      ([name, value]) =>
        value != null && value !== "" && !(Array.isArray(value) && value.length === 0) && name !== "role",
    );
    return { split: full || fragments.length > 0 || reason !== choice["finish_reason"], reason, fragments };
  }

  #state(index: number): ChoiceState {
    let state = this.#choices.get(index);
    if (state === undefined) {
      state = { table: new CallTable(), sent: new Map(), calledCustom: false, finished: false, roleSent: false };
      this.#choices.set(index, state);
    }
    return state;
  }

  #write(chunk: Readonly<Json>, choice: Json): string {
    return `data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`;
  }

  #doneFrame(): string {
    if (this.#choices.size === 0)
      return this.#fail("provider_stream_interrupted", "The provider returned an empty answer.");
    return this.#close();
  }

  #close(): string {
    this.#done = true;
    this.#identity.listener?.finished();
    if (!this.#identity.includeUsage) return "data: [DONE]\n\n";
    return `${this.#held.frame()}data: [DONE]\n\n`;
  }

  #fail(code: AnswerFaultCode, message: string): string {
    return this.#failWith({ code, message });
  }

  #failWith(fault: AnswerFault): string {
    this.#fault = afterContent(fault, this.#committed);
    return this.#failText();
  }

  #failText(): string {
    this.#done = true;
    const fault: AnswerFault = this.#fault ?? { code: "provider_stream_interrupted", message: "" };
    const identity = this.#identity;
    const error = { ...identity.tell(fault), request_id: identity.requestId };
    return `data: ${JSON.stringify({ error })}\n\n`;
  }
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}
