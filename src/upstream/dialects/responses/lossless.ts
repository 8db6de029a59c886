// Relays requests and answers of the Responses API: the client's body with few changes. Forms that this gateway accepts and
// OpenAI does not (nested tools, image objects) are converted to OpenAI's; everything else keeps its bytes.

import { editJson } from "../../../base/json-edit.ts";
import { spliceMembers } from "../../../base/json-splice.ts";
import { lastFinish } from "../../../chat/event.ts";
import type { ChatRequest } from "../../../chat/request.ts";
import { shownUsage } from "../../../chat/shown-usage.ts";
import type { Lossless, RelayIdentity, RequestContext, UpstreamRequest } from "../../dialect.ts";
import { openaiEndUser } from "../../end-user.ts";
import { withUsage, writtenOutput } from "../../output-text.ts";
import { mayReason, refusedEffort, refusedFor } from "../../quirks.ts";
import { asList, asRecord, type Loose, parseRecord } from "../loose.ts";
import { CallGuards } from "./guards.ts";
import { hidingEdits, INCLUDE_ENCRYPTED_REASONING, wantsEncrypted } from "./hidden.ts";
import { RESPONSES_USAGE, responsesEvents } from "./reader.ts";
import { noteSeal, ResponsesRelay } from "./relay.ts";
import { responsesHeaders } from "./request.ts";

/** The relay of this dialect. */
export const responsesLossless: Lossless = {
  request: losslessRequest,
  relay: (identity) => new ResponsesRelay(identity),
  result: losslessResult,
};

function losslessRequest(
  text: string,
  chat: ChatRequest,
  ctx: RequestContext,
  members: Readonly<Record<string, unknown>>,
): UpstreamRequest {
  const body = ctx.body ?? parseRecord(text) ?? {};
  const dropped: string[] = [];
  const set: Record<string, unknown> = { model: ctx.model };
  if (ctx.stream !== chat.stream) set["stream"] = ctx.stream;
  // These members are for the gateway, and upstreams refuse unknown ones.
  for (const name of ["thread_id", "conversation_id"]) if (name in body) set[name] = undefined;
  const given = "input" in members ? members["input"] : body["input"];
  const input = plainInput(given);
  if (input !== body["input"]) set["input"] = input;
  const tools = asList(body["tools"]).map(plainTool);
  if (tools.some((tool, i) => tool !== asList(body["tools"])[i])) set["tools"] = tools;
  const choice = plainTool(body["tool_choice"]);
  if (choice !== body["tool_choice"]) set["tool_choice"] = choice;
  const reasoning = asRecord(body["reasoning"]);
  const effort = refusedEffort(ctx, reasoning["effort"], "responses");
  if (effort !== undefined) {
    set["reasoning"] = { ...reasoning, effort };
    dropped.push("reasoning.effort");
  }
  const refused = refusedFor(ctx, chat.reasoning);
  const hidesEncrypted =
    ctx.storesAnswer === true && mayReason(ctx) && !refused.includes("include") && !wantsEncrypted(body["include"]);
  if (hidesEncrypted) set["include"] = [...asList(body["include"]), INCLUDE_ENCRYPTED_REASONING];
  const edits = { ...members, ...openaiEndUser(body, ctx), ...set };
  for (const name of refused) {
    if (name in body) dropped.push(name);
    edits[name] = undefined;
  }
  return {
    path: "/responses",
    headers: responsesHeaders(ctx),
    body: spliceMembers(text, edits),
    dropped,
    ...(hidesEncrypted ? { hidesEncrypted } : {}),
  };
}

/** Flattens `{type:"function",function:{name,…}}`, the form of chat completions. */
function plainTool(value: unknown): unknown {
  const tool = asRecord(value);
  if (typeof tool["function"] !== "object" || tool["function"] === null) return value;
  const { function: inner, ...rest } = tool;
  // If `strict` is absent, the default is true in the flat form, but false in the nested one.
  const strict = "parameters" in asRecord(inner) ? { strict: false } : {};
  return { ...strict, ...rest, ...asRecord(inner) };
}

/** Converts the input's items. Returns the same value if all of them are in OpenAI's form already. */
function plainInput(input: unknown): unknown {
  if (!Array.isArray(input)) return input;
  const items = input.map(plainItem);
  return items.some((item, i) => item !== input[i]) ? items : input;
}

function plainItem(value: unknown): unknown {
  const item = asRecord(value);
  if (!Array.isArray(item["content"])) return value;
  const content = item["content"].map((part) => plainPart(asRecord(part), item["role"] === "assistant", part));
  return content.some((part, i) => part !== asList(item["content"])[i]) ? { ...item, content } : value;
}

function plainPart(part: Loose, byAssistant: boolean, original: unknown): unknown {
  if (byAssistant && part["type"] === "input_text") return { ...part, type: "output_text" };
  if (part["type"] !== "input_image" || typeof part["image_url"] !== "object" || part["image_url"] === null) {
    return original;
  }
  const { url, detail } = asRecord(part["image_url"]);
  return { ...(detail === undefined ? {} : { detail }), ...part, image_url: url };
}

function losslessResult(text: string, identity: RelayIdentity): ReturnType<Lossless["result"]> {
  const body = parseRecord(text);
  const events = responsesEvents(body);
  if (body === undefined) return { text, events };
  const set: Record<string, unknown> = { id: identity.id, model: identity.model, ...identity.echo };
  const output = new CallGuards().mendedOutput(body["output"]);
  if (output === "broken") {
    const message = "The model called a tool with arguments that are not valid JSON.";
    const usage = lastFinish(events)?.usage;
    return { text, events: [{ type: "error", code: "tool_arguments_invalid", message, ...(usage && { usage }) }] };
  }
  if (output !== undefined) set["output"] = output;
  const reported = lastFinish(events)?.usage;
  const usage = identity.settle(reported, writtenOutput(events));
  const shown = shownUsage(body["usage"], usage, RESPONSES_USAGE);
  if (shown !== body["usage"]) set["usage"] = shown;
  for (const item of asList(body["output"]).map(asRecord)) {
    if (item["type"] === "reasoning") noteSeal(item, body["store"] !== false, identity);
  }
  const whole = spliceMembers(text, set, body);
  const settled = withUsage(events, usage);
  if (identity.hidesEncrypted !== true) return { text: whole, events: settled };
  const answer = { ...body, ...set };
  return { text: editJson(whole, hidingEdits(answer["output"], ["output"])), events: settled, answer };
}
