// What the watch reads from the official SDKs: for each vendor and kind of name, the types that list the names.

import { join } from "node:path";
import type { SdkTypes } from "./declarations.ts";

/** The packages that are read. */
export const SDKS = ["openai", "@anthropic-ai/sdk", "@google/genai"] as const;

/** The folder of the versions that the lock file pins. */
export const PINNED: string = join(import.meta.dir, "../../node_modules");

/** One kind of names of one vendor. */
export interface Subject {
  /** The SDK's package. */
  sdk: (typeof SDKS)[number];
  /** What the names are: `chat parameter`, `stop reason`. */
  kind: string;
  names(types: SdkTypes): string[];
}

const CHAT = "openai/resources/chat/completions/completions.d.ts";
const COMPLETIONS = "openai/resources/completions.d.ts";
const RESPONSES = "openai/resources/responses/responses.d.ts";
const COUNT = "openai/resources/responses/input-tokens.d.ts";
const OPENAI_SHARED = "openai/resources/shared.d.ts";
const MESSAGES = "@anthropic-ai/sdk/resources/messages/messages.d.ts";
const BETA = "@anthropic-ai/sdk/resources/beta/messages/messages.d.ts";
const ANTHROPIC_SHARED = "@anthropic-ai/sdk/resources/shared.d.ts";
const GENAI = "@google/genai/dist/genai.d.ts";

const openai = (kind: string, names: Subject["names"]): Subject => ({ sdk: "openai", kind, names });
const anthropic = (kind: string, names: Subject["names"]): Subject => ({ sdk: "@anthropic-ai/sdk", kind, names });
const google = (kind: string, names: Subject["names"]): Subject => ({ sdk: "@google/genai", kind, names });
/** The names in the stable and in the beta types. */
const both = (read: (file: string, prefix: string) => string[]): string[] => [
  ...read(MESSAGES, ""),
  ...read(BETA, "Beta"),
];

/** Everything that is read. */
export const SUBJECTS: readonly Subject[] = [
  openai("chat parameter", (sdk) => sdk.members(CHAT, "ChatCompletionCreateParamsBase")),
  openai("chat role", (sdk) => sdk.words(CHAT, "ChatCompletionMessageParam", { tag: "role" })),
  openai("chat content part", (sdk) => [
    ...sdk.words(CHAT, "ChatCompletionContentPart"),
    ...sdk.words(CHAT, "ChatCompletionAssistantMessageParam", { path: ["content"] }),
  ]),
  openai("chat tool", (sdk) => sdk.words(CHAT, "ChatCompletionTool")),
  openai("chat finish reason", (sdk) => [
    ...sdk.words(CHAT, "ChatCompletion.Choice", { path: ["finish_reason"] }),
    ...sdk.words(CHAT, "ChatCompletionChunk.Choice", { path: ["finish_reason"] }),
  ]),
  openai("completions parameter", (sdk) => sdk.members(COMPLETIONS, "CompletionCreateParamsBase")),
  openai("responses parameter", (sdk) => sdk.members(RESPONSES, "ResponseCreateParamsBase")),
  openai("responses count parameter", (sdk) => sdk.members(COUNT, "InputTokenCountParams")),
  openai("responses input item", (sdk) => sdk.words(RESPONSES, "ResponseInputItem")),
  openai("responses content part", (sdk) => [
    ...sdk.words(RESPONSES, "ResponseInputContent"),
    ...sdk.words(RESPONSES, "ResponseOutputMessage", { path: ["content"] }),
  ]),
  openai("responses tool", (sdk) => sdk.words(RESPONSES, "Tool")),
  openai("responses output item", (sdk) => sdk.words(RESPONSES, "ResponseOutputItem")),
  openai("responses stream event", (sdk) => sdk.words(RESPONSES, "ResponseStreamEvent")),
  openai("responses incomplete reason", (sdk) =>
    sdk.words(RESPONSES, "Response.IncompleteDetails", { path: ["reason"] }),
  ),
  openai("error code", (sdk) => sdk.words(RESPONSES, "ResponseError", { path: ["code"] })),
  openai("effort", (sdk) => sdk.words(OPENAI_SHARED, "ReasoningEffort")),
  anthropic("parameter", (sdk) => both((file) => sdk.members(file, "MessageCreateParamsBase"))),
  anthropic("count parameter", (sdk) => both((file) => sdk.members(file, "MessageCountTokensParams"))),
  anthropic("request block", (sdk) => both((file, prefix) => sdk.words(file, `${prefix}ContentBlockParam`))),
  anthropic("tool", (sdk) => both((file, prefix) => sdk.words(file, `${prefix}ToolUnion`))),
  anthropic("answer block", (sdk) => both((file, prefix) => sdk.words(file, `${prefix}ContentBlock`))),
  anthropic("stream event", (sdk) => both((file, prefix) => sdk.words(file, `${prefix}RawMessageStreamEvent`))),
  anthropic("stream delta", (sdk) => both((file, prefix) => sdk.words(file, `${prefix}RawContentBlockDelta`))),
  anthropic("stop reason", (sdk) => both((file, prefix) => sdk.words(file, `${prefix}StopReason`))),
  anthropic("error type", (sdk) => sdk.words(ANTHROPIC_SHARED, "ErrorType")),
  anthropic("error code", (sdk) =>
    [ANTHROPIC_SHARED, MESSAGES, BETA].flatMap((file) => sdk.wordsOfClasses(file, "errorCode")),
  ),
  anthropic("effort", (sdk) => both((file, prefix) => sdk.words(file, `${prefix}OutputConfig`, { path: ["effort"] }))),
  google("config member", (sdk) => sdk.members(GENAI, "GenerateContentConfig")),
  google("part member", (sdk) => sdk.members(GENAI, "Part")),
  google("finish reason", (sdk) => sdk.words(GENAI, "FinishReason")),
  google("block reason", (sdk) => sdk.words(GENAI, "BlockedReason")),
  google("thinking level", (sdk) => sdk.words(GENAI, "ThinkingLevel")),
];
