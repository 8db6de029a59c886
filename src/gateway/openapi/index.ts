// The descriptions of all gateway endpoints, one line for each file. Only the documentation loads them.

import type { EndpointText } from "../../http/served-endpoint.ts";
import { AUDIO_PATHS } from "./audio.ts";
import { CHAT_PATHS } from "./chat-completions.ts";
import { CONVERSATION_TEXTS } from "./conversations.ts";
import { GEMINI_CHAT_TEXTS, GEMINI_PATHS } from "./gemini.ts";
import { KEPT_TEXTS } from "./kept.ts";
import { MANAGED_KEY_TEXTS } from "./managed-keys.ts";
import { MESSAGE_PATHS, MESSAGE_TEXTS } from "./messages.ts";
import { MODEL_ENDPOINT_PATHS } from "./model-endpoints.ts";
import { OLLAMA_PATHS } from "./ollama.ts";
import { OWN_KEY_TEXTS } from "./own-key.ts";
import { PASSTHROUGH_TEXTS } from "./passthrough.ts";
import { RESPONSE_PATHS, RESPONSE_TEXTS } from "./responses.ts";
import { RUN_TEXTS } from "./runs.ts";
import { SYNTHESIS_PATHS } from "./synthesis.ts";
import { USAGE_REPORT_TEXTS } from "./usage-report.ts";

/** The descriptions of client formats and of endpoints for models that do not chat, by their path. */
export const PATH_TEXTS: Readonly<Record<string, EndpointText>> = {
  ...CHAT_PATHS,
  ...RESPONSE_PATHS,
  ...MESSAGE_PATHS,
  ...OLLAMA_PATHS,
  ...GEMINI_PATHS,
  ...MODEL_ENDPOINT_PATHS,
  ...AUDIO_PATHS,
  ...SYNTHESIS_PATHS,
};

/** The descriptions of the other endpoints, by the names of their operations. */
export const GATEWAY_TEXTS = {
  ...RESPONSE_TEXTS,
  ...MESSAGE_TEXTS,
  ...GEMINI_CHAT_TEXTS,
  ...CONVERSATION_TEXTS,
  ...KEPT_TEXTS,
  ...OWN_KEY_TEXTS,
  ...MANAGED_KEY_TEXTS,
  ...PASSTHROUGH_TEXTS,
  ...RUN_TEXTS,
  ...USAGE_REPORT_TEXTS,
};
