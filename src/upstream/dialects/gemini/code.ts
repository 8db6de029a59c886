// The dialect gemini: generateContent and streamGenerateContent.

import { lazily } from "../../../base/lazily.ts";
import type { Dialect } from "../../dialect.ts";
import { faultFromHttp, UpstreamFault } from "../../fault.ts";
import { asList, asRecord, asText } from "../loose.ts";
import { GEMINI } from "./contents.ts";
import { GEMINI_NAMES } from "./names.ts";
import { GeminiReader, geminiError, geminiEvents } from "./reader.ts";
import { geminiRequest } from "./request.ts";

const relayed = lazily(() => {
  const { geminiLossless, geminiCount }: typeof import("./lossless.ts") = require("./lossless.ts");
  return { ...geminiLossless, count: geminiCount };
});

/** The dialect. */
export const GEMINI_DIALECT: Dialect = {
  name: GEMINI,
  parsesInputs: true,
  toolNames: GEMINI_NAMES,
  request: geminiRequest,
  reader: () => new GeminiReader(),
  events: geminiEvents,
  fault: geminiFault,
  lossless: {
    request: (...given) => relayed().request(...given),
    relay: (identity) => relayed().relay(identity),
    result: (text, identity) => relayed().result(text, identity),
  },
  tokenCount: (...given) => relayed().count(...given),
};

/** Reads the error body `{error:{code,message,status,details}}`, which streams wrap in a list. */
function geminiFault(status: number, body: string, headers: Headers): UpstreamFault {
  const error = asRecord(asRecord(firstOf(body))["error"]);
  const message = asText(error["message"]) ?? `The provider answered with status ${status}.`;
  const details = asList(error["details"]).map(asRecord);
  // Gemini answers 400 to an invalid key.
  const reasons = details.map((detail) => asText(detail["reason"]));
  const ours = reasons.includes("API_KEY_INVALID") || /API key (?:not valid|expired)/i.test(message) ? 401 : status;
  const fault = faultFromHttp(ours, { ...geminiError(error), message }, headers);
  const delay = details.map((detail) => /^([\d.]+)s$/.exec(asText(detail["retryDelay"]) ?? "")?.[1]).find(Boolean);
  if (fault.retryAfterSeconds !== undefined || delay === undefined) return fault;
  const { kind, said, headers: kept } = fault;
  return new UpstreamFault(kind, message, { status: ours, said, headers: kept, retryAfterSeconds: Number(delay) });
}

function firstOf(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return Array.isArray(value) ? value[0] : value;
  } catch {
    return undefined;
  }
}
