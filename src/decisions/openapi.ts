// The descriptions of the decision endpoints, for the documentation alone.

import { Type } from "@sinclair/typebox";
import type { ErrorCode } from "../base/errors.ts";
import { anyObject, mapOf, oneOf, orNull } from "../http/endpoint.ts";
import type { NamelessText } from "../http/served-endpoint.ts";

const ERRORS: readonly ErrorCode[] = [
  "content_policy_violation",
  "guardrail_denied",
  "invalid_question",
  "context_too_large",
  "decision_unavailable",
  "model_not_found",
  "wrong_model_family",
  "tier_required",
  "provider_rate_limited",
];

const MODEL = Type.String({
  minLength: 1,
  description: "A decision model's version or alias, as `GET /v1/systemone/models` lists it.",
});

const HEADERS = {
  "x-sallyport-model": "The version that answered.",
  "x-sallyport-route": "Provider and upstream model that answered.",
  "x-sallyport-calibration": "How the probabilities were calibrated: `fitted`, `prior`, `upstream` or `none`.",
  "x-sallyport-label-mass": "The share of the model's probability for the offered options, 0 to 1.",
  "x-sallyport-prior-calls":
    "For models with a prior: how many of the calls made priors, which are part of the cost; 0 if all were there.",
};

const CONTENT = Type.Union([Type.String(), anyObject("Any JSON object."), Type.Array(Type.Unknown())]);
const CRITERION = orNull(CONTENT);

const NOUL = Type.Object(
  {
    type: Type.Literal("noul"),
    instructions: Type.Optional(CONTENT),
    criteria: Type.Optional(
      Type.Object({ true: Type.Optional(CRITERION), false: Type.Optional(CRITERION) }, { additionalProperties: true }),
    ),
  },
  { $id: "YesNoQuestion", additionalProperties: true, description: "A yes/no question: the probability of yes." },
);

const CHOICE = Type.Object(
  {
    type: Type.Literal("choice"),
    instructions: Type.Optional(CONTENT),
    criteria: Type.Unsafe<Record<string, unknown>>({
      type: "object",
      additionalProperties: CRITERION,
      minProperties: 1,
      maxProperties: 255,
      description: "The meaning of each option, or null, by the option's name.",
    }),
  },
  { $id: "ChoiceQuestion", additionalProperties: true, description: "One of up to 255 options." },
);

const SCORE = Type.Object(
  {
    type: Type.Literal("score"),
    instructions: Type.Optional(CONTENT),
    criteria: Type.Array(CONTENT, {
      minItems: 2,
      maxItems: 10,
      description: "The meaning of each level, lowest first.",
    }),
  },
  { $id: "ScoreQuestion", additionalProperties: true, description: "A point on a scale of 2 to 10 levels." },
);

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const PROBABILITIES = mapOf(Type.Number(), { description: "By option or level; they sum to 1." });

const YES_NO_ANSWER = Type.Object(
  { type: Type.Literal("noul"), noul: share("Calibrated probability of yes.") },
  { $id: "YesNoAnswer" },
);
const CHOICE_ANSWER = Type.Object(
  {
    type: Type.Literal("choice"),
    choice: Type.String({ description: "The most probable option." }),
    probabilities: PROBABILITIES,
    confidence: share("From 0, no better than chance, to 1, certain."),
  },
  { $id: "ChoiceAnswer" },
);
const SCORE_ANSWER = Type.Object(
  {
    type: Type.Literal("score"),
    score: Type.Number({ description: "The expected level, counted from 0; may fall between two." }),
    legend: Type.String({ description: "The most probable level's text." }),
    probabilities: PROBABILITIES,
    confidence: share("From 0, spread over all levels, to 1, certain."),
    legend_map: mapOf(Type.String(), { description: "The text of each level." }),
    level_probabilities: mapOf(Type.Number(), { description: "The probability of each level." }),
  },
  { $id: "ScoreAnswer" },
);

const USAGE = Type.Object(
  {
    input_tokens: Type.Integer({ description: "Billed." }),
    output_tokens: Type.Integer({ description: "Free." }),
  },
  { $id: "DecisionUsage" },
);

const QUESTIONS = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  additionalProperties: Type.Union([NOUL, CHOICE, SCORE]),
  minProperties: 1,
  maxProperties: 2000,
  description: "Questions by keys that you choose; the answers have the same keys.",
});

const BODY = Type.Object(
  {
    model: MODEL,
    state: Type.Union([Type.String(), anyObject("Any JSON."), Type.Array(Type.Unknown())], {
      description: "What the questions are about.",
    }),
    questions: QUESTIONS,
  },
  { $id: "DecisionRequest", additionalProperties: true },
);

const EXAMPLE = {
  model: "demo-decide",
  state: "I was charged twice for the same order.",
  questions: {
    refund: { type: "noul", instructions: "Does the customer want money back?" },
    topic: {
      type: "choice",
      instructions: "What is it about?",
      criteria: { billing: "Charges and refunds", other: null },
    },
    anger: { type: "score", instructions: "How angry is the customer?", criteria: ["calm", "annoyed", "furious"] },
  },
};

const LIMITS =
  "All questions are answered or none. State and questions together may have 65,536 tokens, the state with the longest " +
  "question 32,768.";

const SYSTEMONE: NamelessText = {
  group: "Decisions",
  summary: "Answer typed questions with probabilities",
  description: `Yes/no questions, choices and scores about a state, each answered with calibrated probabilities. ${LIMITS} There is no streaming; \`stream\`, \`tools\`, \`system\` and \`thread_id\` are refused.`,
  body: { schema: BODY, examples: { all: EXAMPLE } },
  answer: {
    description: "An answer for each question.",
    schema: Type.Object(
      {
        model: Type.String({ description: "The exact version that answered." }),
        answers: mapOf(Type.Union([YES_NO_ANSWER, CHOICE_ANSWER, SCORE_ANSWER])),
        usage: USAGE,
      },
      { $id: "Decision" },
    ),
    headers: HEADERS,
    example: {
      model: "decide-1.0.0",
      answers: {
        refund: { type: "noul", noul: 0.93 },
        topic: { type: "choice", choice: "billing", probabilities: { billing: 0.97, other: 0.03 }, confidence: 0.94 },
        anger: {
          type: "score",
          score: 1.1,
          legend: "annoyed",
          probabilities: { calm: 0.1, annoyed: 0.7, furious: 0.2 },
          confidence: 0.6,
          legend_map: { "0": "calm", "1": "annoyed", "2": "furious" },
          level_probabilities: { "0": 0.1, "1": 0.7, "2": 0.2 },
        },
      },
      usage: { input_tokens: 84, output_tokens: 3 },
    },
  },
  errors: ERRORS,
};

const NATIVE: NamelessText = {
  group: "Decisions",
  summary: "The same in TypeSafe's own format",
  description: `For TypeSafe's clients: a score's \`legend\` and \`probabilities\` are keyed by level. ${LIMITS}`,
  body: { schema: BODY, examples: { all: EXAMPLE } },
  answer: {
    description: "An answer for each question.",
    schema: Type.Object(
      { model: Type.String(), answers: mapOf(anyObject("An answer, with its `type`.")), usage: USAGE },
      { $id: "NativeDecision" },
    ),
    headers: HEADERS,
  },
  errors: ERRORS,
};

const OPENAI: NamelessText = {
  group: "Decisions",
  summary: "The same in the format of OpenAI's Decisions",
  description: `A list of questions in, a list of answers in the same order out. ${LIMITS}`,
  body: {
    schema: Type.Object(
      {
        model: MODEL,
        input: Type.Union([Type.String(), Type.Array(anyObject("An input item with `role` and `content`."))], {
          description: "What the questions are about.",
        }),
        questions: Type.Array(
          Type.Object(
            {
              type: oneOf(["predicate", "choice", "score"]),
              name: Type.Optional(orNull(Type.String())),
              instructions: Type.Union([Type.String(), Type.Array(anyObject("A text part."))]),
              choices: Type.Optional(
                Type.Array(
                  Type.Object(
                    {
                      value: Type.Union([Type.String(), Type.Boolean()]),
                      description: Type.Optional(orNull(Type.String())),
                    },
                    { additionalProperties: true },
                  ),
                  { minItems: 2, maxItems: 255, description: "Of a choice." },
                ),
              ),
              levels: Type.Optional(
                Type.Array(
                  Type.Object(
                    { label: Type.String({ minLength: 1 }), description: Type.Optional(orNull(Type.String())) },
                    { additionalProperties: true },
                  ),
                  { minItems: 2, maxItems: 10, description: "The levels of a score, lowest first." },
                ),
              ),
            },
            { $id: "OpenaiQuestion", additionalProperties: true },
          ),
          { minItems: 1, maxItems: 400 },
        ),
        prompt_cache_key: Type.Optional(
          orNull(Type.String({ description: "A key for the prompt cache of an `openai-decisions` backend." })),
        ),
        prompt_cache_options: Type.Optional(orNull(anyObject("How an `openai-decisions` backend caches the prompt."))),
        safety_identifier: Type.Optional(
          Type.Union([Type.String(), Type.Null()], {
            description:
              "A hashed identifier of your end user, for the provider. If it has more than 64 characters, it is ignored.",
          }),
        ),
      },
      { $id: "OpenaiDecisionRequest", additionalProperties: true },
    ),
    examples: {
      predicate: {
        model: "demo-decide",
        input: "I was charged twice.",
        questions: [{ type: "predicate", name: "refund", instructions: "Does the customer want money back?" }],
      },
    },
  },
  answer: {
    description: "An answer for each question, in their order.",
    schema: Type.Object(
      {
        model: Type.String(),
        answers: Type.Array(
          anyObject(
            "`type`, `name`, and `probability`, `choice` or `score` with `probabilities`; of a refused question `type: refusal` and `name`.",
          ),
        ),
        usage: anyObject("`input_tokens`, `output_tokens`, `total_tokens`."),
      },
      { $id: "OpenaiDecision" },
    ),
    headers: HEADERS,
  },
  errors: [...ERRORS, "image_input_not_supported"],
};

/** The descriptions by the names of their operations. */
export const DECISION_TEXTS = {
  decide: SYSTEMONE,
  listDecisionModels: {
    group: "Decisions" as const,
    summary: "List decision models",
    description: "Versions and aliases that can be used.",
    answer: {
      description: "The models.",
      schema: Type.Object(
        {
          object: Type.Literal("list"),
          data: Type.Array(Type.Object({ id: Type.String(), type: Type.Literal("systemone") })),
        },
        { $id: "DecisionModelList" },
      ),
    },
  },
  decideNative: NATIVE,
  listDecisionModelsNative: {
    group: "Decisions" as const,
    summary: "List decision models in TypeSafe's own format",
    description: "For TypeSafe's clients.",
    answer: {
      description: "The models.",
      schema: Type.Object(
        {
          models: Type.Array(
            Type.Object({ name: Type.String(), description: Type.String(), release_date: Type.String() }),
          ),
        },
        { $id: "NativeModelList" },
      ),
    },
  },
  decideOpenai: OPENAI,
};
