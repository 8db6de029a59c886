// The OpenAPI descriptions of all gateway endpoints, one line for each file.

import type { ApiEndpoint } from "../../http/endpoint.ts";
import { descriptionsOf } from "../../http/served-endpoint.ts";
import { OWN_KEY } from "../endpoints/own-key/routes.ts";
import { AUDIO_ENDPOINTS } from "./audio.ts";
import { CHAT_COMPLETIONS } from "./chat-completions.ts";
import { CONVERSATION_DOCS } from "./conversations.ts";
import { KEPT } from "./kept.ts";
import { MESSAGES } from "./messages.ts";
import { MODEL_ENDPOINT_DOCS } from "./model-endpoints.ts";
import { PASSTHROUGH } from "./passthrough.ts";
import { RESPONSE_ENDPOINTS } from "./responses.ts";
import { SYNTHESIS_ENDPOINTS } from "./synthesis.ts";

/** The descriptions of all gateway endpoints. */
export const GATEWAY_ENDPOINTS: readonly ApiEndpoint[] = [
  CHAT_COMPLETIONS,
  ...RESPONSE_ENDPOINTS,
  ...MESSAGES,
  ...CONVERSATION_DOCS,
  ...KEPT,
  ...MODEL_ENDPOINT_DOCS,
  ...AUDIO_ENDPOINTS,
  ...SYNTHESIS_ENDPOINTS,
  ...descriptionsOf(OWN_KEY),
  ...PASSTHROUGH,
];
