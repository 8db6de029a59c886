// The client format of `POST /v1/responses`. The code that reads and writes it is loaded with its first request.

import { lazily } from "../../base/lazily.ts";
import type { WireFormat } from "../format.ts";
import { responsesMcp } from "./lazy-tools.ts";

const code = lazily(() => {
  const { RESPONSES_CODE }: typeof import("./code.ts") = require("./code.ts");
  return RESPONSES_CODE;
});

/** The responses format. */
export const responsesFormat: WireFormat = {
  name: "openai-responses",
  path: "/v1/responses",
  idPrefix: "resp_",
  dialect: "openai-responses",
  keepalive: ": keepalive\n\n",
  turns: "input",
  get fields() {
    return code().fields;
  },
  get names() {
    return code().names;
  },
  get reads() {
    return code().reads;
  },
  get entries() {
    return code().entries;
  },
  decode: (body) => code().decode(body),
  openSeals: (body, reader) => code().openSeals(body, reader),
  encode: (result, exchange) => code().encode(result, exchange),
  writer: (exchange) => code().writer(exchange),
  reasoning: "input.reasoning",
  untranslatable: ["prompt", "tool_choice"],
  defaults: { temperature: true, maxTokens: false },
  storesAnswers: true,
  mcp: responsesMcp,
  ownTools: [[/^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/, "web_search"]],
};
