// Reads the bodies of `countTokens`: contents alone, or a whole request for an answer.

import { isRecord } from "../../base/json-object.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { expectFields, type Fields, maybe } from "../check.ts";
import type { WireFormat } from "../format.ts";
import { decodeGemini } from "./decode.ts";
import { geminiFormat } from "./format.ts";
import { usualNames } from "./spelling.ts";

function decodeCount(body: Fields): ChatRequest {
  const { generateContentRequest: _whole, ...alone } = body;
  const whole = maybe(body, "generateContentRequest", expectFields);
  return decodeGemini(whole === undefined ? alone : { ...whole, model: body["model"] });
}

function countNames(body: Fields): Fields {
  const named = usualNames(body);
  const whole = named["generateContentRequest"];
  const inner = isRecord(whole) ? usualNames(whole) : whole;
  return inner === whole ? named : { ...named, generateContentRequest: inner };
}

/** The format of requests that are counted. */
export const geminiCountFormat: WireFormat = {
  ...geminiFormat,
  fields: geminiFormat.fields,
  names: geminiFormat.names,
  reads: geminiFormat.reads,
  usualNames: countNames,
  decode: decodeCount,
};
