// The verdicts that the gateway's own tables and readers give, so that nobody has to write them down: the tables of parameters,
// which a test tries through the running program, the stop reasons, the words of errors, the efforts of models, and what readers
// make of events and blocks.

import type { ChatEvent } from "../../src/chat/event.ts";
import type { ChatRequest } from "../../src/chat/request.ts";
import type { EventReader, RequestContext } from "../../src/upstream/dialect.ts";
import { anthropicMessages } from "../../src/upstream/dialects/anthropic/dialect.ts";
import { gemini } from "../../src/upstream/dialects/gemini/dialect.ts";
import { openaiChat } from "../../src/upstream/dialects/openai-chat/dialect.ts";
import { openaiResponses } from "../../src/upstream/dialects/responses/dialect.ts";
import { codeOfWords } from "../../src/upstream/fault-words.ts";
import { VENDORS } from "../../src/vendors/index.ts";
import { CHAT } from "../../test/gateway/parameters/chat.ts";
import { COMPLETIONS } from "../../test/gateway/parameters/completions.ts";
import { MESSAGES } from "../../test/gateway/parameters/messages.ts";
import { RESPONSES } from "../../test/gateway/parameters/responses.ts";
import type { Fate, Row } from "../../test/gateway/parameters/row.ts";
import type { Decision } from "./verdict.ts";

/** The verdict of the gateway's code on a name; undefined if the code does not know the name. */
export type Known = (name: string) => Decision | undefined;

const PROTOCOLS = {
  chat: "Chat Completions",
  responses: "Responses",
  claude: "Messages",
  gemini: "Gemini",
} as const;
type Column = keyof typeof PROTOCOLS;

/** The verdicts of a table of parameters. `own`: the column of the format's own protocol, over which everything is passed. */
function parameters(rows: readonly Row[], own?: Column): Known {
  const columns = (Object.keys(PROTOCOLS) as Column[]).filter((column) => column !== own);
  return (name) => {
    if (name === "model" || name === "messages") return { verdict: "translated" };
    const exact = rows.filter((row) => row.name === name);
    const about = exact.length > 0 ? exact : rows.filter((row) => row.name.split(".")[0] === name);
    if (about.length === 0) return undefined;
    const fates = columns.map((column) => best(about.map((row) => row[column])));
    const verdicts = ["translated", "passed", "refused", "dropped"] as const;
    const verdict = fates.every((fate) => fate === "passed")
      ? "passed"
      : (verdicts.find((one) => fates.includes(one)) ?? "dropped");
    const away = (["dropped", "refused"] as const).flatMap((fate) => {
      const where = columns.filter((_, i) => fates[i] === fate && fate !== verdict).map((column) => PROTOCOLS[column]);
      return where.length === 0 ? [] : [`${fate} over ${where.join(", ")}`];
    });
    return { verdict, ...(away.length === 0 ? {} : { note: away.join("; ") }) };
  };
}

/** The best that happens to a parameter over one protocol; its rows are about different values. */
function best(fates: readonly Fate[]): Decision["verdict"] {
  if (fates.some((fate) => fate === "ours" || typeof fate === "object")) return "translated";
  if (fates.includes("same")) return "passed";
  return fates.includes("refused") ? "refused" : "dropped";
}

/** The verdict on a word for the end of an answer, from the events of an answer that ends with it. */
function end(events: (reason: string) => ChatEvent[]): Known {
  return (reason) => {
    const out = events(reason);
    const error = out.find((event) => event.type === "error");
    if (error !== undefined) return { verdict: "refused", note: `error \`${error.code}\`` };
    const finish = out.find((event) => event.type === "finish");
    if (finish === undefined || finish.reason === "unknown") return undefined;
    return { verdict: "translated", note: `\`${finish.reason}\`` };
  };
}

/** The verdict on a word of an error. `as`: the member of an error object that contains it. */
const errorWord =
  (as: "code" | "type"): Known =>
  (word) => {
    const code = codeOfWords({ message: "", [as]: word });
    return code === undefined ? undefined : { verdict: "translated", note: `\`${code}\`` };
  };

/** The verdict on an effort: the rules about a vendor's models name those that each model takes. */
function efforts(vendor: string): Known {
  const families = VENDORS.find(({ name }) => name === vendor)?.families ?? [];
  const taken = new Set(families.flatMap(({ rules }) => rules.flatMap(({ facts }) => facts.efforts ?? [])));
  return (word) =>
    [...taken].some((effort) => effort === word.toLowerCase())
      ? { verdict: "translated", note: "the nearest that the model takes" }
      : undefined;
}

type Loose = Record<string, unknown>;

/** The verdict on something in an answer: read, unless it becomes a part that only its own protocol has. */
const block =
  (events: (type: string) => ChatEvent[]): Known =>
  (type) =>
    events(type).some((event) => event.type === "opaque" || event.type === "error")
      ? undefined
      : { verdict: "translated" };

/** The frames around the event that is tried: those that open what it may be about, and those that end the answer. */
interface Around {
  before: readonly Loose[];
  after: readonly Loose[];
}

/** The verdict on an event of a stream: translated if the reader's events differ with it. */
function streamed(
  reader: () => EventReader,
  { before, after }: Around,
  forms: (name: string) => readonly Loose[],
): Known {
  const play = (frames: readonly Loose[]): string => {
    const out: ChatEvent[] = [];
    const one = reader();
    for (const frame of frames) one.push({ event: undefined, data: JSON.stringify(frame) }, out);
    one.end(out);
    return JSON.stringify(out);
  };
  const [nothing, plain] = [play([]), play([...before, ...after])];
  return (name) => {
    const isRead = forms(name).some((form) => play([form]) !== nothing || play([...before, form, ...after]) !== plain);
    return isRead ? { verdict: "translated" } : undefined;
  };
}

/** Open items of every family that the reader knows. */
const OPEN_ITEMS = ["message", "reasoning", "function_call", "custom_tool_call"].map((type, index) => ({
  type: "response.output_item.added",
  output_index: index,
  item: { type, id: type, ...(type.endsWith("call") ? { call_id: type, name: "f" } : {}) },
}));
const RESPONSES_AROUND: Around = {
  before: [...OPEN_ITEMS, { type: "response.output_text.delta", item_id: "message", output_index: 0, delta: "a" }],
  after: [{ type: "response.completed", response: { status: "completed", output: [] } }],
};

const responsesEvent = (type: string): Loose[] =>
  OPEN_ITEMS.flatMap(({ item, output_index }) => [
    {
      type,
      item_id: item.id,
      output_index,
      item,
      response: { id: "r", status: type.slice("response.".length), output: [] },
      annotation: { type: "url_citation" },
      ...Object.fromEntries(["delta", "text", "arguments", "input", "refusal"].map((key) => [key, "abc"])),
    },
  ]);

const OPEN_BLOCKS = ["text", "thinking", "tool_use"].map((type, index) => ({
  type: "content_block_start",
  index,
  content_block: { type, id: type, name: "f" },
}));
const CLAUDE_AROUND: Around = {
  before: OPEN_BLOCKS,
  after: [{ type: "message_delta", delta: { stop_reason: "end_turn" } }, { type: "message_stop" }],
};
const claudeEvent = (type: string): Loose[] =>
  OPEN_BLOCKS.map(({ index }) => ({
    type,
    index,
    message: { id: "m", model: "m" },
    content_block: { type: "text", text: "abc" },
    delta: { type: "text_delta", text: "abc", stop_reason: "end_turn" },
  }));
const claudeDelta = (type: string): Loose[] =>
  OPEN_BLOCKS.map(({ index }) => ({
    type: "content_block_delta",
    index,
    delta: { type, text: "a", thinking: "a", signature: "a", partial_json: "a", citation: {}, content: "a" },
  }));

const geminiEnd = (candidate: Loose) =>
  gemini.events({ candidates: [{ content: { parts: [{ text: "a" }] }, ...candidate }] });

/** The members of a Gemini request with everything that the neutral form can express. */
function geminiMembers(): Set<string> {
  const body = JSON.parse(gemini.request(FULL, FULL_CONTEXT).body) as { generationConfig: Loose };
  return new Set([...Object.keys(body), ...Object.keys(body.generationConfig)]);
}

const schema = { type: "object", properties: { a: { type: "string" } } };
const FULL: ChatRequest = {
  model: "m",
  messages: [
    { role: "system", content: [{ type: "text", text: "be" }] },
    { role: "user", content: [{ type: "text", text: "hi" }] },
  ],
  stream: false,
  includeUsage: false,
  tools: [{ type: "function", name: "f", parameters: schema }],
  toolChoice: { type: "required" },
  responseFormat: { type: "json_schema", name: "a", schema },
  reasoning: { effort: "low" },
  maxTokens: 5,
  temperature: 1,
  topP: 1,
  topK: 1,
  presencePenalty: 1,
  frequencyPenalty: 1,
  seed: 1,
  stop: ["a"],
  n: 2,
  logprobs: true,
  topLogprobs: 1,
  store: true,
  serviceTier: "flex",
  extra: {},
};
const FULL_CONTEXT: RequestContext = {
  model: "gemini-3-flash",
  stream: false,
  quirks: {},
  supportsReasoning: true,
  maxOutputTokens: 100,
  clientHeaders: {},
};
const SENT_TO_GEMINI = geminiMembers();

/** SDK and kind → the verdict of the code. Kinds that are not here are decided by hand. */
export const KNOWN: Readonly<Record<string, Known>> = {
  "openai chat parameter": parameters(CHAT, "chat"),
  "openai completions parameter": parameters(COMPLETIONS),
  "openai responses parameter": parameters(RESPONSES, "responses"),
  "openai chat finish reason": end((finish_reason) =>
    openaiChat.events({ choices: [{ index: 0, message: { content: "a" }, finish_reason }] }),
  ),
  "openai responses incomplete reason": end((reason) =>
    openaiResponses.events({ status: "incomplete", incomplete_details: { reason }, output: [] }),
  ),
  "openai responses output item": block((type) => openaiResponses.events({ status: "completed", output: [{ type }] })),
  "openai responses stream event": streamed(openaiResponses.reader, RESPONSES_AROUND, responsesEvent),
  "openai error code": errorWord("code"),
  "openai effort": efforts("openai"),
  "@anthropic-ai/sdk parameter": parameters(MESSAGES, "claude"),
  "@anthropic-ai/sdk answer block": block((type) =>
    anthropicMessages.events({ content: [{ type }], stop_reason: "end_turn" }),
  ),
  "@anthropic-ai/sdk stream event": streamed(anthropicMessages.reader, CLAUDE_AROUND, claudeEvent),
  "@anthropic-ai/sdk stream delta": streamed(anthropicMessages.reader, CLAUDE_AROUND, claudeDelta),
  "@anthropic-ai/sdk stop reason": end((stop_reason) => anthropicMessages.events({ content: [], stop_reason })),
  "@anthropic-ai/sdk error type": errorWord("type"),
  "@anthropic-ai/sdk error code": errorWord("code"),
  "@anthropic-ai/sdk effort": efforts("anthropic"),
  "@google/genai config member": (name) => (SENT_TO_GEMINI.has(name) ? { verdict: "translated" } : undefined),
  "@google/genai finish reason": end((finishReason) => geminiEnd({ finishReason })),
  "@google/genai thinking level": efforts("gemini"),
};
