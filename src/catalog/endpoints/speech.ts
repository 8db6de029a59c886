// POST /v1/audio/speech in OpenAI's format: text in, audio out, as bytes or as events.

import { entryOf } from "../../base/json-object.ts";
import { reportedUsage } from "../../chat/usage.ts";
import { countTokens } from "../../tokens/count.ts";
import { SPEECH_FORMATS } from "./audio-formats.ts";
import { refuseParam } from "./checks.ts";
import type { JsonObject, ModelEndpoint } from "./endpoint.ts";
import { mediaUsage } from "./endpoint-usage.ts";

/** Output tokens for each character of slow speech. */
const TOKENS_PER_CHARACTER = 5;

/** The endpoint. */
export const speech: ModelEndpoint = {
  path: "/v1/audio/speech",
  kind: "speech",
  upstreamPath: "/audio/speech",
  dialects: ["openai-chat", "openai-responses"],
  gives: "any",
  formatConversion: ({ quirks }) => entryOf(SPEECH_FORMATS, quirks.audio ?? ""),
  operation: "speech",
  check({ input, speed, response_format: format, stream_format: streams }) {
    if (typeof input !== "string" || input === "") refuseParam("input", "a non-empty string");
    if (speed != null && !(typeof speed === "number" && speed > 0)) refuseParam("speed", "a number above 0");
    if (format != null && typeof format !== "string")
      refuseParam("response_format", 'the name of a format, such as "mp3"');
    if (streams != null && streams !== "sse" && streams !== "audio") refuseParam("stream_format", '"sse" or "audio"');
  },
  measure: ({ input }) => ({
    inputTokens: countTokens(String(input)),
    outputTokens: 0,
    characters: [...String(input)].length,
  }),
  worst(body) {
    const measured = speech.measure(body);
    return { ...measured, outputTokens: (measured.characters ?? 0) * TOKENS_PER_CHARACTER };
  },
  usage(event) {
    const usage = (event["usage"] ?? {}) as JsonObject;
    return reportedUsage({ input: usage["input_tokens"], output: usage["output_tokens"] });
  },
  shownUsage: mediaUsage,
  addsUsage: false,
};
