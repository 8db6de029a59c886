// What the format of `POST /v1/messages` does: how it reads a body, and how it writes a whole answer or a stream.

import type { ChatResult, ResultBlock } from "../../chat/result.ts";
import type { AnswerContext, WireFormat } from "../format.ts";
import { sealedCall } from "../seal-envelopes.ts";
import { MESSAGES_ORIGIN } from "./blocks.ts";
import { decodeMessages, decodeMessagesInSteps } from "./decode.ts";
import { messagesEntries } from "./entries.ts";
import { MESSAGES_FIELDS } from "./fields.ts";
import { MESSAGES_NAMES, MESSAGES_READS } from "./members.ts";
import { openMessages } from "./seals.ts";
import {
  citationsOf,
  endMembers,
  envelope,
  imageBlock,
  type MessagesBlock,
  redactedOf,
  signatureOf,
  stopMembers,
} from "./shape.ts";
import { MessagesWriter, messagesTools } from "./stream.ts";

/** The code of the format. */
export const MESSAGES_CODE = {
  fields: MESSAGES_FIELDS,
  decode: decodeMessages,
  decodeInSteps: decodeMessagesInSteps,
  openSeals: openMessages,
  entries: messagesEntries,
  encode,
  writer: (exchange: AnswerContext) => new MessagesWriter(exchange),
  names: MESSAGES_NAMES,
  reads: MESSAGES_READS,
} satisfies Partial<WireFormat>;

/** Writes a whole answer. The format has one answer per request, so further choices are dropped. */
function encode(result: ChatResult, exchange: AnswerContext): MessagesBlock {
  const choice = result.choices[0];
  const blocks = choice?.blocks ?? [];
  const calledTool = blocks.some((block) => block.type === "tool-call");
  return {
    ...envelope(exchange),
    content: blocks.flatMap((block) => encodeBlock(block, exchange)),
    ...stopMembers(choice?.reason ?? "unknown", choice?.stopSequence, calledTool),
    ...endMembers(result.usage, exchange),
  };
}

function encodeBlock(block: ResultBlock, exchange: AnswerContext): MessagesBlock[] {
  switch (block.type) {
    case "text": {
      // If the client returned an empty text block, the protocol's own servers would refuse it.
      if (block.text === "") return [];
      const own = block.citations?.map((one) => messagesTools().locationOf(one)) ?? [];
      const citations = [...citationsOf(block.annotations), ...own];
      return [{ type: "text", text: block.text, ...(citations.length > 0 ? { citations } : {}) }];
    }
    case "reasoning":
      return encodeReasoning(block, exchange);
    case "tool-call": {
      const signature = sealedCall(block, exchange.source);
      const call = { type: "tool_use", id: block.callId, name: block.name, input: inputOf(block) };
      return signature === undefined ? [call] : [{ type: "thinking", thinking: "", signature }, call];
    }
    case "image":
      return [imageBlock(block)];
    case "opaque":
      return block.origin === MESSAGES_ORIGIN ? [{ ...block.value }] : [];
    case "server-tool":
      return [messagesTools().callBlock(block, block.input)];
    case "server-tool-result":
      return block.call.output === undefined ? [] : [messagesTools().resultBlock(block.call, block.call.output)];
  }
}

function encodeReasoning(
  block: Extract<ResultBlock, { type: "reasoning" }>,
  { source }: AnswerContext,
): MessagesBlock[] {
  const summary = (block.summary ?? []).filter((part) => part !== "").join("\n\n");
  const thinking = block.text === "" || summary === "" ? block.text + summary : `${block.text}\n\n${summary}`;
  const signature = signatureOf(block, {
    summary: block.text === "" && summary !== "",
    text: thinking !== "",
    source,
  });
  const out: MessagesBlock[] = [];
  if (thinking !== "" || signature !== "") out.push({ type: "thinking", thinking, signature });
  const data = redactedOf(block);
  if (data !== undefined) out.push({ type: "redacted_thinking", data });
  return out;
}

function inputOf(call: Extract<ResultBlock, { type: "tool-call" }>): unknown {
  if (call.kind === "custom") return { input: call.arguments };
  // The arguments of a finished call are valid JSON; those of a call without arguments are an empty text.
  return call.arguments.trim() === "" ? {} : JSON.parse(call.arguments);
}
