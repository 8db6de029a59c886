// The dialect openai-responses: OpenAI's Responses API and the servers that speak it.

import type { Dialect } from "../dialect.ts";
import { openaiFault } from "./openai-chat.ts";
import { RESPONSES } from "./responses-input.ts";
import { responsesLossless } from "./responses-lossless.ts";
import { ResponsesReader, responsesEvents } from "./responses-reader.ts";
import { responsesRequest } from "./responses-request.ts";

/** The dialect. */
export const openaiResponses: Dialect = {
  name: RESPONSES,
  request: responsesRequest,
  reader: () => new ResponsesReader(),
  events: responsesEvents,
  fault: openaiFault,
  lossless: responsesLossless,
};
