// The requirements of Open Responses for a response object and for each event of a stream, written from its public
// specification. Further members are allowed everywhere.

import { z } from "zod";

const nullable = <T extends z.ZodType>(type: T) => type.nullable();
const text = z.string();
const count = z.int().min(0);
const anything = z.record(text, z.unknown());

const logprob = z.object({
  token: text,
  logprob: z.number(),
  bytes: z.array(z.int()),
  top_logprobs: z.array(anything),
});
const outputText = z.object({
  type: z.literal("output_text"),
  text,
  annotations: z.array(z.object({ type: text })),
  logprobs: z.array(logprob),
});
const refusal = z.object({ type: z.literal("refusal"), refusal: text });
const summaryText = z.object({ type: z.literal("summary_text"), text });
const reasoningText = z.object({ type: z.literal("reasoning_text"), text });
const part = z.union([outputText, refusal, summaryText, reasoningText]);

const status = z.enum(["in_progress", "completed", "incomplete"]);
const item = z.union([
  z.object({ type: z.literal("message"), id: text, status, role: z.literal("assistant"), content: z.array(part) }),
  z.object({ type: z.literal("function_call"), id: text, call_id: text, name: text, arguments: text, status }),
  z.object({
    type: z.literal("reasoning"),
    id: text,
    summary: z.array(summaryText),
    content: z.array(reasoningText).optional(),
    encrypted_content: text.optional(),
  }),
]);

const functionTool = z.object({
  type: z.literal("function"),
  name: text,
  description: nullable(text),
  parameters: nullable(anything),
  strict: nullable(z.boolean()),
});
const toolChoice = z.union([
  z.enum(["auto", "none", "required"]),
  z.object({ type: z.literal("function"), name: text.optional() }),
  z.object({ type: z.literal("allowed_tools"), mode: z.enum(["auto", "none", "required"]), tools: z.array(anything) }),
]);
const usage = z.object({
  input_tokens: count,
  input_tokens_details: z.object({ cached_tokens: count }),
  output_tokens: count,
  output_tokens_details: z.object({ reasoning_tokens: count }),
  total_tokens: count,
});

/** The response object. */
export const responseResource = z.object({
  id: text,
  object: z.literal("response"),
  created_at: z.int(),
  completed_at: nullable(z.int()),
  status: z.enum(["queued", "in_progress", "completed", "incomplete", "failed"]),
  incomplete_details: nullable(z.object({ reason: text })),
  model: text,
  previous_response_id: nullable(text),
  instructions: nullable(text),
  output: z.array(item),
  error: nullable(z.object({ code: text, message: text })),
  tools: z.array(functionTool),
  tool_choice: toolChoice,
  truncation: z.enum(["auto", "disabled"]),
  parallel_tool_calls: z.boolean(),
  text: z.object({
    format: z.union([
      z.object({ type: z.enum(["text", "json_object"]) }),
      z.object({
        type: z.literal("json_schema"),
        name: text,
        schema: anything,
        strict: nullable(z.boolean()).optional(),
      }),
    ]),
    verbosity: text.optional(),
  }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: count,
  temperature: z.number(),
  reasoning: nullable(z.object({ effort: nullable(text), summary: nullable(text) })),
  usage: nullable(usage),
  max_output_tokens: nullable(z.int()),
  max_tool_calls: nullable(z.int()),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: text,
  metadata: z.unknown(),
  safety_identifier: nullable(text),
  prompt_cache_key: nullable(text),
});

const lifecycle = { response: responseResource };
const ofItem = { item_id: text, output_index: count };
const ofPart = { ...ofItem, content_index: count };
const ofSummary = { ...ofItem, summary_index: count };

const EVENTS = {
  "response.created": lifecycle,
  "response.in_progress": lifecycle,
  "response.completed": lifecycle,
  "response.incomplete": lifecycle,
  "response.failed": lifecycle,
  "response.output_item.added": { output_index: count, item },
  "response.output_item.done": { output_index: count, item },
  "response.content_part.added": { ...ofPart, part },
  "response.content_part.done": { ...ofPart, part },
  "response.output_text.delta": { ...ofPart, delta: text, logprobs: z.array(logprob) },
  "response.output_text.done": { ...ofPart, text, logprobs: z.array(logprob) },
  "response.refusal.delta": { ...ofPart, delta: text },
  "response.refusal.done": { ...ofPart, refusal: text },
  "response.function_call_arguments.delta": { ...ofItem, delta: text },
  "response.function_call_arguments.done": { ...ofItem, arguments: text },
  "response.reasoning_summary_part.added": { ...ofSummary, part: summaryText },
  "response.reasoning_summary_part.done": { ...ofSummary, part: summaryText },
  "response.reasoning_summary_text.delta": { ...ofSummary, delta: text },
  "response.reasoning_summary_text.done": { ...ofSummary, text },
  "response.output_text.annotation.added": { ...ofPart, annotation_index: count, annotation: anything },
} as const;

const events = new Map(
  Object.entries(EVENTS).map(([type, members]) => [
    type,
    z.object({ type: z.literal(type), sequence_number: count, ...members }),
  ]),
);

/** The problems of a value, one line for each member; empty if there are none. */
export function problemsOf(schema: z.ZodType, value: unknown): string[] {
  const { error } = schema.safeParse(value);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
}

/** The same for an event of a stream. */
export function eventProblems(value: Readonly<Record<string, unknown>>): string[] {
  const type = String(value["type"]);
  const schema = events.get(type);
  if (schema === undefined) return [`${type}: no event of the specification`];
  return problemsOf(schema, value).map((problem) => `${type}: ${problem}`);
}
