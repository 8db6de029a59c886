// Amazon Bedrock, by its runtime. Sources: docs.aws.amazon.com/bedrock (inference-openai, inference-messages-api, InvokeModel,
// ListFoundationModels, ListInferenceProfiles), and what `@anthropic-ai/bedrock-sdk` 1.1 and openai 7.57 send (2026-11). Claude is
// called by InvokeModel, as the vendor's client does. The hosts of other partitions are those of openai's client.

import type { Vendor } from "./vendor.ts";

const REGION = { variables: ["AWS_REGION", "AWS_DEFAULT_REGION"] };
const BEARER = { header: "authorization", bearer: true };
/** What may stand before a maker's name: an ARN's beginning, and the area of an inference profile. */
const BEFORE = "^(?:arn:.*/)?(?:[a-z-]+\\.)?";

/** Names are the ids of models (`openai.…`), of inference profiles (`us.anthropic.…`), or ARNs of these. */
export const bedrock: Vendor = {
  name: "bedrock",
  title: "Amazon Bedrock",
  importNames: ["bedrock_converse"],
  api: {
    kind: "openai",
    baseUrl: "",
    domains: ["amazonaws.com", "amazonaws.com.cn", "amazonaws.eu", "c2s.ic.gov", "sc2s.sgov.gov"],
    traceName: "aws.bedrock",
    variable: { name: "AWS_BEARER_TOKEN_BEDROCK", holds: "key", alone: false },
    dialects: { "openai-chat": { free_model_names: true }, "openai-responses": {}, "anthropic-messages": {} },
    auth: BEARER,
    signsThinking: true,
    models: {
      path: "/foundation-models",
      list: "modelSummaries",
      id: ["modelId", "id"],
      facts: {
        name: "modelName",
        supportsVision: { member: "inputModalities", word: "IMAGE" },
      },
      kinds: {
        embedding: { member: "outputModalities", word: "EMBEDDING" },
        image: { member: "outputModalities", word: "IMAGE" },
      },
      // The newer models are called by profiles alone, and an account's own profiles are of its choosing.
      further: {
        path: "/inference-profiles?maxResults=1000&type=SYSTEM_DEFINED",
        list: {
          list: "inferenceProfileSummaries",
          id: "inferenceProfileId",
          facts: { name: "inferenceProfileName" },
          active: { member: "status", word: "ACTIVE" },
        },
      },
    },
    cloud: {
      origins: [
        { region: /^cn-/, origin: "https://bedrock-runtime.{region}.amazonaws.com.cn" },
        { region: /^eusc-/, origin: "https://bedrock-runtime.{region}.amazonaws.eu" },
        { region: /^us-iso-/, origin: "https://bedrock-runtime.{region}.c2s.ic.gov" },
        { region: /^us-isob-/, origin: "https://bedrock-runtime.{region}.sc2s.sgov.gov" },
        { origin: "https://bedrock-runtime.{region}.amazonaws.com" },
      ],
      places: { region: REGION },
      credential: "aws",
      service: "bedrock",
      offers: [
        {
          models: /anthropic\.|claude/i,
          protocols: ["anthropic-messages"],
          path: "",
          shape: "invoke-model",
          example: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        },
        {
          models: /openai\./,
          protocols: ["openai-chat", "openai-responses"],
          path: "/openai/v1",
          example: "openai.gpt-5.4",
        },
        { protocols: ["openai-chat"], path: "/openai/v1", example: "qwen.qwen3-32b-v1:0" },
      ],
      list: "/foundation-models?byInferenceType=ON_DEMAND",
      listHost: ["bedrock-runtime.", "bedrock."],
    },
    figures: {
      prices: "aws",
      addresses: "https://bedrock-(?:runtime\\.[a-z0-9-]+\\.amazonaws\\.com|mantle\\.[a-z0-9-]+\\.api\\.aws)(?:/|$)",
      // Profiles of areas cost what the model costs in a region; those of all areas (`global.`) have rows of their own
      // (aws.amazon.com/bedrock/pricing, 2026-11).
      spellings: [
        { from: "^arn:[^/]*/", to: "" },
        { from: "^(?:apac|us-gov|[a-z]{2})\\.(?=[a-z0-9]+\\.)", to: "us." },
        { from: "^us\\.", to: "" },
        { from: "^(openai\\.gpt-oss-\\d+b)$", to: "$1-1:0" },
      ],
      makers: [
        { vendor: "anthropic", from: `${BEFORE}anthropic\\.(claude-.*?)(?:-v\\d+)?(?::\\w+)*$`, to: "$1" },
        { vendor: "openai", from: `${BEFORE}openai\\.(gpt-(?!oss).*)$`, to: "$1" },
      ],
    },
    note: "Needs `region`. The address follows from it; without a key, calls are signed with AWS credentials.",
  },
};

/** The other API of the same service, with more models. Its names have no region and no version. */
export const bedrockMantle: Vendor = {
  name: "bedrock-mantle",
  title: "Amazon Bedrock (mantle)",
  api: {
    kind: "openai",
    baseUrl: "",
    domains: ["api.aws"],
    traceName: "aws.bedrock",
    dialects: { "openai-chat": { free_model_names: true }, "openai-responses": {}, "anthropic-messages": {} },
    auth: BEARER,
    signsThinking: true,
    models: { path: "/models" },
    cloud: {
      origins: [{ origin: "https://bedrock-mantle.{region}.api.aws" }],
      places: { region: REGION },
      credential: "aws",
      service: "bedrock-mantle",
      keyVariable: "AWS_BEARER_TOKEN_BEDROCK",
      offers: [
        {
          models: /^anthropic\.|claude/i,
          protocols: ["anthropic-messages"],
          path: "/anthropic/v1",
          example: "anthropic.claude-opus-4-8",
        },
        {
          models: /^openai\./,
          protocols: ["openai-chat", "openai-responses"],
          path: "/openai/v1",
          example: "openai.gpt-oss-120b",
        },
        { protocols: ["openai-chat", "openai-responses"], path: "/v1", example: "google.gemma-4-31b" },
      ],
      list: "/v1/models",
    },
    note: "Needs `region`, and the key in `AWS_BEARER_TOKEN_BEDROCK` or AWS credentials.",
  },
};
