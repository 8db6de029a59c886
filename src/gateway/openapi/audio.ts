// The OpenAPI description of the audio endpoints.

import { Type } from "@sinclair/typebox";
import { anyObject, oneOf } from "../../http/endpoint.ts";
import type { EndpointText } from "../../http/served-endpoint.ts";
import { FILE_PART, MODEL, MODEL_ERRORS, MODEL_HEADERS, passedOn, STREAM, UPLOAD_LIMITS } from "./shared.ts";

const TRANSCRIPTION_FORMATS = ["json", "text", "srt", "verbose_json", "vtt", "diarized_json"];

const TRANSCRIPT = {
  description: "The text in the requested `response_format`: JSON, or plain text for `text`, `srt` and `vtt`.",
  schema: Type.Object(
    {
      text: Type.String(),
      usage: Type.Optional(anyObject("What is billed: tokens (`type: tokens`) or seconds (`type: duration`).")),
    },
    { $id: "Transcription", additionalProperties: true },
  ),
  headers: MODEL_HEADERS,
};

const COMMON = {
  model: MODEL,
  file: FILE_PART("The audio file, in a format that the provider can read."),
  prompt: Type.Optional(
    Type.String({ description: "Names and words that may occur, or the text that precedes the audio." }),
  ),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
};

const TRANSCRIBE: EndpointText = {
  id: "createTranscription",
  group: "Audio and images",
  summary: "Transcribe an audio file",
  description: `Uses the format of OpenAI's transcriptions API. Requires a model whose \`type\` is \`transcription\`.${UPLOAD_LIMITS}`,
  body: {
    type: "multipart/form-data",
    schema: Type.Object(
      {
        ...COMMON,
        language: Type.Optional(Type.String({ description: "The language of the audio, for example `en`." })),
        response_format: Type.Optional(oneOf(TRANSCRIPTION_FORMATS, { default: "json" })),
        stream: STREAM,
        "timestamp_granularities[]": passedOn(
          "The timestamps to include with `verbose_json`: `word`, `segment` or both.",
        ),
        "include[]": passedOn("`logprobs`."),
        chunking_strategy: passedOn("How long audio is divided into pieces."),
      },
      { $id: "TranscriptionRequest", additionalProperties: true },
    ),
    examples: {},
  },
  answer: {
    ...TRANSCRIPT,
    events: {
      description:
        "With `stream`, the answer consists of one `transcript.text.delta` event for each piece and `transcript.text.done` at the end.",
      schema: Type.Object(
        { type: Type.String(), delta: Type.Optional(Type.String()), text: Type.Optional(Type.String()) },
        { $id: "TranscriptionEvent", additionalProperties: true },
      ),
    },
  },
  errors: MODEL_ERRORS,
};

const TRANSLATE: EndpointText = {
  id: "createTranslation",
  group: "Audio and images",
  summary: "Translate an audio file into English text",
  description: `Uses the format of OpenAI's translations API. Requires a model whose \`type\` is \`transcription\`.${UPLOAD_LIMITS}`,
  body: {
    type: "multipart/form-data",
    schema: Type.Object(
      { ...COMMON, response_format: Type.Optional(oneOf(TRANSCRIPTION_FORMATS, { default: "json" })) },
      { $id: "TranslationRequest", additionalProperties: true },
    ),
    examples: {},
  },
  answer: TRANSCRIPT,
  errors: MODEL_ERRORS,
};

/** The descriptions by path. */
export const AUDIO_PATHS = { "/v1/audio/transcriptions": TRANSCRIBE, "/v1/audio/translations": TRANSLATE };
