// The error object of OpenAI and compatible servers, which occurs in HTTP errors, in streams and in whole answers.

import { statedSizes } from "../context-counts.ts";
import type { FaultText } from "../fault-words.ts";
import { asNumber, asRecord, asText } from "./loose.ts";

/** Reads `{message,type,param,code,details}`. Some servers send a plain string, others an HTTP status as the code. */
export function openaiError(value: unknown, otherwise = "The provider reported an error."): FaultText {
  if (typeof value === "string") return { message: value || otherwise };
  const error = asRecord(value);
  const code = asText(error["code"]);
  const type = asText(error["type"]);
  const param = asText(error["param"]);
  const status = asNumber(error["code"]) ?? asNumber(error["status"]);
  return {
    message: asText(error["message"]) || otherwise,
    ...(code ? { code } : {}),
    ...(type ? { type } : {}),
    ...(param === undefined ? {} : { param }),
    ...(status === undefined ? {} : { status }),
    ...statedSizes(error),
    ...(error["details"] == null ? {} : { details: error["details"] }),
  };
}
