// What whole and streamed answers of the responses format share: the response object, ids of items, usage, status and seals.

import { isRecord } from "../../base/json-object.ts";
import type { FinishReason, ImageEvent, Usage } from "../../chat/event.ts";
import { webSearchesOf } from "../../chat/usage.ts";
import { type Fields, given } from "../check.ts";
import type { AnswerContext } from "../format.ts";
import { carry, type Seals, type Source, sealed } from "../seal-envelopes.ts";
import { requestEcho } from "./echo.ts";
import { itemIdOf } from "./references.ts";
import { RESPONSES_ORIGIN } from "./tools.ts";

/** An output item, a content part, or the data of an event. */
export type ResponsesItem = Record<string, unknown>;

/** The members in which the response objects of one answer differ. */
export interface Progress {
  status: "in_progress" | "completed" | "incomplete" | "failed";
  output: readonly ResponsesItem[];
  usage?: Usage | undefined;
  error?: ResponsesItem;
  incompleteReason?: string | undefined;
}

/** Writes the response objects of one exchange. The repeated part of the request is computed once. */
export class ResponseObject {
  readonly #exchange: AnswerContext;
  #echo: ResponsesItem | undefined;
  #echoText: string | undefined;

  constructor(exchange: AnswerContext) {
    this.#exchange = exchange;
  }

  /** The response object. */
  value(progress: Progress): ResponsesItem {
    return { ...this.#changing(progress), ...this.#echoed() };
  }

  /** The response object as JSON. */
  text(progress: Progress): string {
    this.#echoText ??= JSON.stringify(this.#echoed()).slice(1);
    return `${JSON.stringify(this.#changing(progress)).slice(0, -1)},${this.#echoText}`;
  }

  #changing({ status, output, usage, error, incompleteReason }: Progress): ResponsesItem {
    return {
      id: this.#exchange.id,
      object: "response",
      created_at: this.#exchange.createdSeconds,
      completed_at: status === "completed" ? this.#exchange.nowSeconds() : null,
      status,
      error: error ?? null,
      incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
      model: this.#exchange.model,
      output,
      usage: usage === undefined ? null : usageOfResponse(usage),
    };
  }

  #echoed(): ResponsesItem {
    this.#echo ??= requestEcho(this.#exchange);
    return this.#echo;
  }
}

/** The usage as the response object states it. */
export function usageOfResponse(usage: Usage): ResponsesItem {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedTokens ?? 0,
      ...given({ cache_write_tokens: usage.cacheWriteTokens }),
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: usage.inputTokens + usage.outputTokens,
    ...given({ web_searches: webSearchesOf(usage), cost: usage.costUsd }),
  };
}

/** Why the response is incomplete; undefined if it is complete. A refusal in text counts as an answer. */
export function incompleteReason(reason: FinishReason, refused: boolean): string | undefined {
  switch (reason) {
    case "length":
    case "context_window":
      return "max_output_tokens";
    case "content_filter":
      return "content_filter";
    case "refusal":
      return refused ? undefined : "content_filter";
    default:
      return undefined;
  }
}

const ID_PREFIXES = {
  message: "msg_",
  reasoning: "rs_",
  function_call: "fc_",
  custom_tool_call: "ctc_",
  web_search_call: "ws_",
  mcp_call: "mcp_",
  image_generation_call: "ig_",
} as const;

/** The types of items for which the gateway creates ids. */
export type ItemType = keyof typeof ID_PREFIXES;

/** The id of an item: the upstream's own, otherwise one derived from the response and the item's index. */
export function itemId(type: ItemType, exchange: AnswerContext, outputIndex: number): string {
  return itemIdOf(ID_PREFIXES[type], exchange.id, outputIndex);
}

const ANNOTATIONS: ReadonlySet<unknown> = new Set([
  "url_citation",
  "file_citation",
  "container_file_citation",
  "file_path",
]);

/** The annotations of this format. Those of chat completions are nested and become flat; clients cannot read others. */
export function annotationsOf(annotations: readonly unknown[] | undefined): Fields[] {
  return (annotations ?? [])
    .filter((one): one is Fields => isRecord(one) && ANNOTATIONS.has(one["type"]))
    .map((one) => (isRecord(one["url_citation"]) ? { type: one["type"], ...one["url_citation"] } : one));
}

/** The `encrypted_content` of a reasoning item: this protocol's own is unchanged, others are in an envelope. */
export function encryptedOf(
  seals: Seals,
  how: { summary: boolean; text: boolean; source: Source | undefined },
): { encrypted_content?: string } {
  const origin = seals.origin ?? how.source?.protocol ?? RESPONSES_ORIGIN;
  if (origin === RESPONSES_ORIGIN) return given({ encrypted_content: seals.encrypted });
  const { itemId: _itemId, ...values } = seals;
  const envelope = sealed(values, how);
  return envelope === undefined ? {} : { encrypted_content: carry(envelope) };
}

/**
 * The item for a call's signature. A function call item has no field for it, so it is sent before the call in an empty reasoning
 * item, which clients return unchanged.
 */
export function callSignatureItem(id: string, envelope: string): ResponsesItem {
  return { id, type: "reasoning", summary: [], encrypted_content: envelope };
}

/** The finished item of a tool call. */
export function callItem(
  id: string,
  call: { kind: "function" | "custom"; callId: string; name: string; namespace?: string | undefined },
  text: string,
  status: "in_progress" | "completed",
): ResponsesItem {
  const { callId, name, namespace } = call;
  const common = { call_id: callId, name, ...given({ namespace }) };
  return call.kind === "custom"
    ? { id, type: "custom_tool_call", status, input: text, ...common }
    : { id, type: "function_call", status, arguments: text, ...common };
}

/** The finished content part of a text. */
export function textPart(
  text: string,
  refusal: boolean,
  more: { annotations?: Fields[]; logprobs?: unknown[] },
): ResponsesItem {
  if (refusal) return { type: "refusal", refusal: text };
  return { type: "output_text", annotations: more.annotations ?? [], logprobs: more.logprobs ?? [], text };
}

/** The item of a picture that the model drew. `id`: that of a picture from another protocol. */
export function imageItem(
  { source, origin, value }: Pick<ImageEvent, "source" | "origin" | "value">,
  id: string,
): ResponsesItem {
  if (origin === RESPONSES_ORIGIN) return { ...value };
  const item = { id, type: "image_generation_call", status: "completed" };
  // The format has pictures by their content alone; few providers answer with an address.
  if (source.kind === "url") return { ...item, result: null, url: source.url };
  return { ...item, result: source.data, output_format: source.mediaType.replace(/^image\//, "") };
}
