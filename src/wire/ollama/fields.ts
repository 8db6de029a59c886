// The members of requests of Ollama's API.

import { expectFields, expectString, type Fields, maybe, reject } from "../check.ts";
import { type BodyMember, field, formatFields } from "../fields.ts";
import { MODEL_MEMBER, THREAD_FIELDS } from "../shared-fields.ts";
import { aBoolean, aNumber, anInteger, aString, oneOrMoreStops, type ValueRule } from "../values.ts";

const anySchema = { type: "object", additionalProperties: true };

/** What both endpoints have beside their prompt. */
const SHARED_MEMBERS = {
  model: MODEL_MEMBER,
  stream: {
    description: "Whether to answer with a line of JSON for each piece of the text, while it is generated.",
    schema: { ...aBoolean.schema, default: true },
  },
  options: {
    description: "The settings of the model.",
    schema: { ...anySchema, properties: {} },
    watched: true,
  },
  format: {
    description: '`"json"`, or a JSON Schema of the answer.',
    schema: { anyOf: [{ type: "string", enum: ["json", ""] }, anySchema] },
  },
  think: {
    description: "Whether the model reasons, or how much: `low`, `medium` or `high`.",
    schema: { anyOf: [aBoolean.schema, aString.schema] },
  },
} satisfies Readonly<Record<string, BodyMember>>;

const KEEP_ALIVE = {
  keep_alive: {
    description: "Without effect, since providers keep their models loaded. 0 with an empty prompt unloads.",
    schema: {},
  },
};

/** Any negative number of tokens means that there is no limit, as in Ollama. */
const outputTokens: ValueRule<number> = {
  check: (value, path) => {
    const tokens = anInteger(-2).check(value, path);
    return tokens === undefined || tokens <= 0 ? undefined : tokens;
  },
  schema: { type: "integer", minimum: -2 },
};

function thinking(body: Fields): boolean | string | undefined {
  const { think } = body;
  if (think === undefined || think === null) return undefined;
  if (typeof think === "boolean" || typeof think === "string") return think;
  return reject("think", 'Invalid \'think\': expected true, false, or a level such as "low", "medium" or "high".');
}

const SHARED = {
  parameters: {
    maxTokens: field("options.num_predict", outputTokens, "The maximum number of tokens to generate."),
    temperature: field("options.temperature", aNumber(0, 2), "The sampling temperature."),
    topP: field("options.top_p", aNumber(0, 1), "Nucleus sampling."),
    topK: field("options.top_k", anInteger(0), "The number of most likely tokens to sample from."),
    seed: field("options.seed", anInteger(), "For repeatable sampling."),
    stop: field("options.stop", oneOrMoreStops, "Texts at which generation stops."),
    presencePenalty: field("options.presence_penalty", aNumber(-2, 2), "Makes tokens that have appeared less likely."),
    frequencyPenalty: field(
      "options.frequency_penalty",
      aNumber(-2, 2),
      "Makes tokens less likely the more often they have appeared.",
    ),
    logprobs: field("logprobs", aBoolean, "Whether to return the log probabilities of the tokens."),
    topLogprobs: field("top_logprobs", anInteger(0, 20), "The number of alternatives to return for each token."),
    threadId: THREAD_FIELDS,
    n: false,
    logitBias: false,
    user: false,
    parallelToolCalls: false,
    metadata: false,
    store: false,
    serviceTier: false,
    verbosity: false,
    modalities: false,
  },
  reasoning: {
    enabled(body: Fields) {
      const think = thinking(body);
      return think === undefined ? undefined : think !== false;
    },
    effort(body: Fields) {
      const think = thinking(body);
      return typeof think === "string" && think !== "" ? think : undefined;
    },
    budgetTokens: false,
    summary: false,
  },
} as const;

/** The table of `POST /api/chat`. */
export const OLLAMA_CHAT_FIELDS = formatFields({
  parameters: SHARED.parameters,
  reasoning: SHARED.reasoning,
  members: {
    ...SHARED_MEMBERS,
    messages: { description: "The messages of the conversation, oldest first. Without any, the model is loaded." },
    tools: { description: "The tools that the model may call." },
  },
  foreign: KEEP_ALIVE,
});

/** The table of `POST /api/generate`. */
export const OLLAMA_GENERATE_FIELDS = formatFields({
  parameters: SHARED.parameters,
  reasoning: SHARED.reasoning,
  members: {
    ...SHARED_MEMBERS,
    prompt: { description: "The prompt. Without one, the model is loaded.", schema: aString.schema },
    system: { description: "The system prompt.", schema: aString.schema },
    images: {
      description: "Images as base64.",
      schema: { type: "array", items: { type: "string" } },
    },
    suffix: { description: "Must be empty, because inserting text is not supported.", schema: aString.schema },
    raw: { description: "Must be false, because providers apply their own templates.", schema: aBoolean.schema },
    template: { description: "Must be empty, because providers apply their own templates.", schema: aString.schema },
  },
  foreign: {
    ...KEEP_ALIVE,
    context: { description: "Without effect. Send the conversation to `/api/chat`.", schema: {} },
  },
});

/** The members of a response format. */
export function ollamaFormatOf(body: Fields) {
  const { format } = body;
  if (format === undefined || format === null || format === "") return undefined;
  if (format === "json") return { type: "json_object" as const };
  if (typeof format === "string") return reject("format", "Invalid 'format': expected \"json\" or a JSON Schema.");
  return { type: "json_schema" as const, name: "response", schema: expectFields(format, "format") };
}

/** Refuses a member that only means something to a model that runs here. */
export function refuseText(body: Fields, name: string, why: string): void {
  if ((maybe(body, name, expectString) ?? "") !== "") reject(name, `Invalid '${name}': ${why}`);
}
