// The members of requests of Gemini's API.

import { expectBoolean, expectFields, expectInteger, expectString, type Fields, maybe } from "../check.ts";
import { field, formatFields } from "../fields.ts";
import { MODEL_MEMBER, STREAM_MEMBER, THREAD_FIELDS, USAGE_MEMBER } from "../shared-fields.ts";
import { aBoolean, aNumber, anInteger, anObject, aString, stopTexts, strings, type ValueRule } from "../values.ts";

const CONFIG = "generationConfig";

/** The settings of reasoning. */
function thinking(body: Fields): Fields | undefined {
  const config = maybe(body, CONFIG, expectFields);
  return config && maybe(config, "thinkingConfig", expectFields, CONFIG);
}

/** The words of the protocol are those of the other ones in capital letters. One of them says nothing. */
const inSmallLetters: ValueRule<string[]> = {
  check: (value, path) => {
    const words = strings.check(value, path)?.filter((word) => word !== "MODALITY_UNSPECIFIED");
    return words?.map((word) => word.toLowerCase());
  },
  schema: strings.schema,
};

const THINKING_PATH = `${CONFIG}.thinkingConfig`;
const expectBudget = expectInteger(-1);

function budgetOf(body: Fields): number | undefined {
  const given = thinking(body);
  return given && maybe(given, "thinkingBudget", expectBudget, THINKING_PATH);
}

/** Whether the client wants to see thoughts. */
export function includesThoughts(body: Fields): boolean {
  const given = thinking(body);
  return (given && maybe(given, "includeThoughts", expectBoolean, THINKING_PATH)) === true;
}

/** The table of `generateContent` and `streamGenerateContent`. */
export const GEMINI_FIELDS = formatFields({
  members: {
    // Both stand in the address.
    model: MODEL_MEMBER,
    stream: STREAM_MEMBER,
    usage: USAGE_MEMBER,
    contents: {
      description: "The turns of the conversation, oldest first, each with its `role` and `parts`.",
      required: true,
    },
    systemInstruction: { description: "The system prompt: `parts` with texts, or a text." },
    tools: { description: "The tools that the model may call: `functionDeclarations`, and those that Google runs." },
    toolConfig: {
      description: "How the model chooses tools.",
      schema: {
        ...anObject.schema,
        properties: {
          functionCallingConfig: {
            ...anObject.schema,
            properties: {
              mode: { ...aString.schema, description: "`AUTO`, `ANY`, `NONE` or `VALIDATED`." },
              allowedFunctionNames: { ...strings.schema, description: "The functions that may be called." },
            },
          },
        },
      },
      watched: true,
    },
    generationConfig: {
      description: "The settings of the answer.",
      schema: {
        ...anObject.schema,
        properties: {
          responseMimeType: { ...aString.schema, description: "`text/plain` or `application/json`." },
          responseSchema: { description: "A schema of the answer, in Google's form." },
          responseJsonSchema: { description: "A JSON Schema of the answer." },
          thinkingConfig: {
            ...anObject.schema,
            properties: {
              thinkingBudget: {
                type: "integer",
                minimum: -1,
                description: "The maximum number of tokens of reasoning; 0 for none, -1 if the model decides.",
              },
              thinkingLevel: { ...aString.schema, description: "`MINIMAL`, `LOW`, `MEDIUM` or `HIGH`." },
              includeThoughts: { ...aBoolean.schema, description: "Whether the answer shows thoughts." },
            },
          },
        },
      },
      watched: true,
    },
  },
  parameters: {
    maxTokens: field(`${CONFIG}.maxOutputTokens`, anInteger(1), "The maximum number of tokens to generate."),
    temperature: field(`${CONFIG}.temperature`, aNumber(0, 2), "The sampling temperature."),
    topP: field(`${CONFIG}.topP`, aNumber(0, 1), "Nucleus sampling."),
    topK: field(`${CONFIG}.topK`, aNumber(0), "The number of most likely tokens to sample from."),
    n: field(`${CONFIG}.candidateCount`, anInteger(1, 128), "The number of answers."),
    stop: field(`${CONFIG}.stopSequences`, stopTexts, "Texts at which generation stops."),
    seed: field(`${CONFIG}.seed`, anInteger(), "For repeatable sampling."),
    presencePenalty: field(
      `${CONFIG}.presencePenalty`,
      aNumber(-2, 2),
      "Makes tokens that have already appeared less likely.",
    ),
    frequencyPenalty: field(
      `${CONFIG}.frequencyPenalty`,
      aNumber(-2, 2),
      "Makes tokens less likely the more often they have appeared.",
    ),
    logprobs: field(`${CONFIG}.responseLogprobs`, aBoolean, "Whether to return the log probabilities of the tokens."),
    topLogprobs: field(`${CONFIG}.logprobs`, anInteger(0, 20), "The number of alternatives to return for each token."),
    threadId: THREAD_FIELDS,
    logitBias: false,
    user: false,
    parallelToolCalls: false,
    metadata: false,
    store: false,
    serviceTier: false,
    verbosity: false,
    modalities: field(
      `${CONFIG}.responseModalities`,
      inSmallLetters,
      "The kinds of output: `TEXT`, and `IMAGE` for models that draw.",
    ),
  },
  reasoning: {
    effort(body: Fields) {
      const given = thinking(body);
      const level = given && maybe(given, "thinkingLevel", expectString, THINKING_PATH);
      return level === undefined || /unspecified/i.test(level) ? undefined : level.toLowerCase();
    },
    budgetTokens(body: Fields) {
      const budget = budgetOf(body);
      return budget === undefined || budget <= 0 ? undefined : budget;
    },
    enabled(body: Fields) {
      const budget = budgetOf(body);
      return budget === undefined ? undefined : budget !== 0;
    },
    summary: (body: Fields) => (includesThoughts(body) ? "auto" : undefined),
  },
  foreign: {
    safetySettings: "What the provider blocks.",
    cachedContent: "A context that the provider has cached.",
    labels: "Labels for the provider's bills.",
    serviceTier: "The provider's service tier.",
    store: "Whether the provider stores the request.",
  },
});

/** The format of the answer. An enum as plain text is a JSON string elsewhere. */
export function geminiFormatOf(body: Fields, toJsonSchema: (schema: Fields) => Fields) {
  const config = maybe(body, CONFIG, expectFields);
  if (config === undefined) return undefined;
  const type = maybe(config, "responseMimeType", expectString, CONFIG);
  const own = maybe(config, "responseSchema", expectFields, CONFIG);
  const schema = maybe(config, "responseJsonSchema", expectFields, CONFIG) ?? (own && toJsonSchema(own));
  if (schema !== undefined) return { type: "json_schema" as const, name: "response", schema };
  return type === "application/json" ? { type: "json_object" as const } : undefined;
}
