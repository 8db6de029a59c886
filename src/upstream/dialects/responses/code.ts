// The dialect openai-responses: OpenAI's Responses API, which some other servers also speak.

import type { Dialect } from "../../dialect.ts";
import { openaiFault } from "../openai-chat/dialect.ts";
import { RESPONSES } from "./input.ts";
import { responsesLossless } from "./lossless.ts";
import { ResponsesReader, responsesEvents } from "./reader.ts";
import { responsesRequest } from "./request.ts";

/** The dialect. */
export const RESPONSES_DIALECT: Dialect = {
  name: RESPONSES,
  takesToolGroups: true,
  maxTokensMin: 16,
  request: responsesRequest,
  reader: () => new ResponsesReader(),
  events: responsesEvents,
  fault: openaiFault,
  lossless: responsesLossless,
};
