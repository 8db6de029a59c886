// POST /v1/audio/transcriptions and /v1/audio/translations in OpenAI's format, as compatible servers accept them: a
// form with an audio file in; its text out, as JSON, plain text, subtitles or events.

import { entryOf } from "../../base/json-object.ts";
import { countTokens } from "../../tokens/count.ts";
import { TRANSCRIPTION_FORMATS } from "./audio-formats.ts";
import { audioUsage, worstAudio } from "./audio-usage.ts";
import { refuseParam } from "./checks.ts";
import type { JsonObject, ModelEndpoint } from "./endpoint.ts";
import { hearingUsage } from "./endpoint-usage.ts";

const FORMATS = ["json", "text", "srt", "verbose_json", "vtt", "diarized_json"];

/** Audio to text in its own language. */
export const transcriptions: ModelEndpoint = {
  path: "/v1/audio/transcriptions",
  kind: "transcription",
  upstreamPath: "/audio/transcriptions",
  dialects: ["openai-chat", "openai-responses"],
  file: "file",
  gives: "any",
  formatConversion: ({ quirks }) => entryOf(TRANSCRIPTION_FORMATS, quirks.audio ?? ""),
  operation: "transcription",
  check: checkForm,
  measure: ({ prompt }) => ({ inputTokens: typeof prompt === "string" ? countTokens(prompt) : 0, outputTokens: 0 }),
  worst: (_fields, bytes) => worstAudio(bytes),
  usage: audioUsage,
  wrote: ({ text }) => (typeof text === "string" ? text : ""),
  shownUsage: hearingUsage,
  addsUsage: true,
};

/** Audio to English text. */
export const translations: ModelEndpoint = {
  ...transcriptions,
  path: "/v1/audio/translations",
  upstreamPath: "/audio/translations",
  formatConversion: () => undefined,
  operation: "translation",
};

function checkForm({ response_format: format, temperature, stream }: JsonObject): void {
  if (format !== undefined && !FORMATS.includes(String(format))) {
    refuseParam("response_format", `one of ${FORMATS.join(", ")}`);
  }
  if (temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 1)) {
    refuseParam("temperature", "a number from 0 to 1");
  }
  if (stream !== undefined && !/^(?:true|false|1|0)$/i.test(String(stream))) refuseParam("stream", "true or false");
}
