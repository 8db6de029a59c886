// What the format of `POST /v1/responses` does: how it reads a body, and how it writes a whole answer or a stream.

import type { ChatResult, ResultBlock } from "../../chat/result.ts";
import type { AnswerContext, WireFormat } from "../format.ts";
import { sealedCall } from "../seal-envelopes.ts";
import { decodeResponses } from "./decode.ts";
import { responsesEntries } from "./entries.ts";
import { RESPONSES_FIELDS } from "./fields.ts";
import { responsesTools } from "./lazy-tools.ts";
import { RESPONSES_NAMES, RESPONSES_READS } from "./members.ts";
import { openResponses } from "./seals.ts";
import {
  annotationsOf,
  callItem,
  callSignatureItem,
  encryptedOf,
  imageItem,
  incompleteReason,
  itemId,
  ResponseObject,
  type ResponsesItem,
  textPart,
} from "./shape.ts";
import { ResponsesWriter } from "./stream.ts";
import { RESPONSES_ORIGIN } from "./tools.ts";

/** The code of the format. */
export const RESPONSES_CODE = {
  fields: RESPONSES_FIELDS,
  decode: decodeResponses,
  openSeals: openResponses,
  entries: responsesEntries,
  encode,
  writer: (exchange: AnswerContext) => new ResponsesWriter(exchange),
  names: RESPONSES_NAMES,
  reads: RESPONSES_READS,
} satisfies Partial<WireFormat>;

/** Writes a whole answer. The format has one answer per request, so further choices are dropped. */
function encode(result: ChatResult, exchange: AnswerContext): ResponsesItem {
  const choice = result.choices[0];
  const blocks = choice?.blocks ?? [];
  const refused = blocks.some((block) => block.type === "text" && block.refusal === true);
  const reason = incompleteReason(choice?.reason ?? "unknown", refused);
  return new ResponseObject(exchange).value({
    status: reason === undefined ? "completed" : "incomplete",
    output: encodeBlocks(blocks, exchange),
    usage: result.usage,
    incompleteReason: reason,
  });
}

function encodeBlocks(blocks: readonly ResultBlock[], exchange: AnswerContext): ResponsesItem[] {
  const output: ResponsesItem[] = [];
  let message: { content: ResponsesItem[] } | undefined;
  for (const block of blocks) {
    if (block.type === "text") {
      const part = encodeText(block);
      if (message === undefined) {
        message = { content: [part] };
        const id = itemId("message", exchange, output.length);
        output.push({ id, type: "message", status: "completed", role: "assistant", content: message.content });
      } else message.content.push(part);
      continue;
    }
    if (block.type === "opaque" && block.origin !== RESPONSES_ORIGIN) continue;
    // Consecutive texts are parts of one message, which any other block ends.
    if (block.type === "server-tool-result") continue;
    message = undefined;
    if (block.type === "server-tool") {
      const { input, output: given } = block;
      const id = itemId(block.kind === "mcp" ? "mcp_call" : "web_search_call", exchange, output.length);
      output.push(responsesTools().callItemOf(id, block, { input, output: given, body: exchange.body }));
    } else if (block.type === "image")
      output.push(imageItem(block, itemId("image_generation_call", exchange, output.length)));
    else if (block.type === "opaque") output.push({ ...block.value });
    else if (block.type === "reasoning") output.push(encodeReasoning(block, exchange, output.length));
    else pushCall(block, exchange, output);
  }
  return output;
}

function encodeText(block: Extract<ResultBlock, { type: "text" }>): ResponsesItem {
  const own = block.citations?.map((one) => responsesTools().urlCitation(one)) ?? [];
  return textPart(block.text, block.refusal === true, {
    annotations: [...annotationsOf(block.annotations), ...own],
    logprobs: block.logprobs ?? [],
  });
}

function encodeReasoning(
  block: Extract<ResultBlock, { type: "reasoning" }>,
  exchange: AnswerContext,
  index: number,
): ResponsesItem {
  const parts = (block.summary ?? []).filter((part) => part !== "");
  // Clients of this protocol only know summaries, so the reasoning itself is returned as a summary.
  const summary = block.text === "" ? parts : [block.text, ...parts];
  return {
    id: block.itemId ?? itemId("reasoning", exchange, index),
    type: "reasoning",
    summary: summary.map((text) => ({ type: "summary_text", text })),
    ...encryptedOf(block, {
      summary: block.text === "" && parts.length > 0,
      text: summary.length > 0,
      source: exchange.source,
    }),
  };
}

function pushCall(
  call: Extract<ResultBlock, { type: "tool-call" }>,
  exchange: AnswerContext,
  output: ResponsesItem[],
): void {
  const envelope = sealedCall(call, exchange.source);
  if (envelope !== undefined) {
    output.push(callSignatureItem(itemId("reasoning", exchange, output.length), envelope));
  }
  const type = call.kind === "custom" ? "custom_tool_call" : "function_call";
  output.push(callItem(call.itemId ?? itemId(type, exchange, output.length), call, call.arguments, "completed"));
}
