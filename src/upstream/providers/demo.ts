// The built-in provider, which needs no key and no network. It repeats the last user message word by word, calls the first tool
// of the request once in a conversation, so that an agent comes to an end, and counts tokens correctly. It speaks the OpenAI chat protocol within the process, so that it runs through the
// same code as a real provider.

import { systemClock } from "../../base/clock.ts";
import { prefixedId } from "../../base/ids.ts";
import { createPause } from "../../base/time-slices.ts";
import { countTokens } from "../../tokens/count.ts";
import type { Transport } from "../provider.ts";
import { demoEndpoint } from "./demo-endpoints.ts";
import { sampleOf } from "./demo-sample.ts";

type Json = Record<string, unknown>;

/** The most tokens of an answer, as the model's card says. */
const OUTPUT_MAX = 32_000;
/** A word with the white space around it. Parts of longer ones are words too, so that none takes long. */
const WORD = /\s{0,200}\S{1,200}(?:\s{1,200}$)?|\s{1,200}/gu;

/** What the model answers to a request. */
interface Plan {
  words: string[];
  call: { id: string; name: string; arguments: string } | undefined;
  finish: "stop" | "length" | "tool_calls";
  promptTokens: number;
  completionTokens: number;
}

/** A plan with its time. */
type Answer = Plan & { createdSeconds: number };

/** Answers within the process. Endpoints other than chat are in demo-endpoints.ts. */
export const demoTransport: Transport = async (url, init) => {
  const other = demoEndpoint(url);
  if (other !== undefined) return other(init);
  const body = JSON.parse(String(init.body)) as Json;
  const plan: Answer = { ...(await planOf(body)), createdSeconds: Math.floor(systemClock.now() / 1000) };
  const model = String(body["model"]);
  if (body["stream"] !== true) return Response.json(whole(plan, model));
  return new Response(streamed(plan, model, init.signal ?? undefined), {
    headers: { "content-type": "text/event-stream" },
  });
};

async function planOf(body: Json): Promise<Plan> {
  const messages = body["messages"] as Json[];
  const promptTokens = messages.reduce(
    (sum, message) => sum + countTokens(textOf(message["content"])) + MESSAGE_TOKENS,
    0,
  );
  const call = mayCall(messages, body["tool_choice"]) ? callOf(body) : undefined;
  if (call !== undefined) {
    return {
      words: [],
      call,
      finish: "tool_calls",
      promptTokens,
      completionTokens: countTokens(call.name + call.arguments),
    };
  }
  const last = messages.findLast((message) => message["role"] === "user" || message["role"] === "tool");
  const text = textOf(last?.["content"]) || "Hello! I am the demo model: I repeat what you say.";
  const limit = Math.min(OUTPUT_MAX, Number(body["max_tokens"] ?? body["max_completion_tokens"] ?? OUTPUT_MAX));
  const kept: string[] = [];
  let completionTokens = 0;
  const pause = createPause();
  for (const [word] of text.matchAll(WORD)) {
    await pause();
    const tokens = countTokens(word);
    if (completionTokens + tokens > limit)
      return { words: kept, call: undefined, finish: "length", promptTokens, completionTokens };
    completionTokens += tokens;
    kept.push(word);
  }
  return { words: kept, call: undefined, finish: "stop", promptTokens, completionTokens };
}

/** Whether it may call a tool: once in a conversation, or in each turn of the user if the request forces a call. */
function mayCall(messages: readonly Json[], choice: unknown): boolean {
  if (messages.at(-1)?.["role"] === "tool") return false;
  if (choice === "required" || (choice as Json | null | undefined)?.["function"] !== undefined) return true;
  return !messages.some((message) => Array.isArray(message["tool_calls"]) && message["tool_calls"].length > 0);
}

/** The tokens of a message beside its text, for the role and separators. */
const MESSAGE_TOKENS = 3;

function callOf(body: Json): Plan["call"] {
  const tools = Array.isArray(body["tools"]) ? (body["tools"] as Json[]) : [];
  const choice = body["tool_choice"];
  if (tools.length === 0 || choice === "none") return undefined;
  const wanted =
    typeof choice === "object" && choice !== null
      ? ((choice as Json)["function"] as Json | undefined)?.["name"]
      : undefined;
  const functions = tools.flatMap((tool) => (tool["type"] === "function" ? [tool["function"] as Json] : []));
  const chosen = functions.find((fn) => fn["name"] === wanted) ?? functions[0];
  if (chosen === undefined) return undefined;
  return {
    id: prefixedId("call_"),
    name: String(chosen["name"]),
    arguments: JSON.stringify(sampleOf(chosen["parameters"] ?? {})),
  };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: Json) => (part["type"] === "text" ? String(part["text"]) : `[${String(part["type"])}]`))
    .join(" ");
}

function usageOf(plan: Plan): Json {
  const { promptTokens, completionTokens } = plan;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

function toolCall({ id, ...fn }: NonNullable<Plan["call"]>): Json {
  return { id, type: "function", function: fn };
}

function whole(plan: Answer, model: string): Json {
  const calls = plan.call === undefined ? {} : { tool_calls: [toolCall(plan.call)] };
  const message = { role: "assistant", content: plan.call === undefined ? plan.words.join("") : null, ...calls };
  const choice = { index: 0, message, logprobs: null, finish_reason: plan.finish };
  return {
    id: "chatcmpl-demo",
    object: "chat.completion",
    created: plan.createdSeconds,
    model,
    system_fingerprint: null,
    choices: [choice],
    usage: usageOf(plan),
  };
}

function streamed(plan: Answer, model: string, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const frames = framesOf(plan, model);
  const pause = createPause();
  return new ReadableStream(
    {
      async pull(controller) {
        await pause();
        const next = signal?.aborted === true ? undefined : frames.next();
        if (next === undefined || next.done === true) controller.close();
        else controller.enqueue(encoder.encode(`data: ${next.value}\n\n`));
      },
    },
    { highWaterMark: 0 },
  );
}

function* framesOf(plan: Answer, model: string): Generator<string> {
  const chunk = (delta: Json, finish: string | null = null) =>
    JSON.stringify({
      id: "chatcmpl-demo",
      object: "chat.completion.chunk",
      created: plan.createdSeconds,
      model,
      system_fingerprint: null,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    });
  yield chunk({ role: "assistant", content: plan.call === undefined ? "" : null });
  for (const word of plan.words) yield chunk({ content: word });
  if (plan.call !== undefined) {
    const { arguments: text } = plan.call;
    yield chunk({ tool_calls: [{ index: 0, ...toolCall({ ...plan.call, arguments: "" }) }] });
    // The arguments are sent in two fragments, which exposes clients that do not join them.
    const half = Math.ceil(text.length / 2);
    for (const piece of [text.slice(0, half), text.slice(half)]) {
      if (piece !== "") yield chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
    }
  }
  yield chunk({}, plan.finish);
  yield JSON.stringify({
    id: "chatcmpl-demo",
    object: "chat.completion.chunk",
    created: plan.createdSeconds,
    model,
    system_fingerprint: null,
    choices: [],
    usage: usageOf(plan),
  });
  yield "[DONE]";
}
