// What the document says of the audio endpoints.

import { Type } from "@sinclair/typebox";
import { type ApiEndpoint, anyObject, oneOf } from "../../http/endpoint.ts";
import { FILE_PART, MODEL, MODEL_ERRORS, MODEL_HEADERS, passedOn, STREAM, UPLOAD_LIMITS } from "./shared.ts";

const TRANSCRIPTION_FORMATS = ["json", "text", "srt", "verbose_json", "vtt", "diarized_json"];

const TRANSCRIPT = {
  description: "The text, as `response_format` says: JSON, or plain text for `text`, `srt` and `vtt`.",
  schema: Type.Object(
    {
      text: Type.String(),
      usage: Type.Optional(anyObject("Tokens (`type: tokens`) or seconds (`type: duration`).")),
    },
    { $id: "Transcription", additionalProperties: true },
  ),
  headers: MODEL_HEADERS,
};

const COMMON = {
  model: MODEL,
  file: FILE_PART("The audio, in a format that the provider reads."),
  prompt: Type.Optional(Type.String({ description: "Names and words to expect, or the text before." })),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
};

const TRANSCRIBE: ApiEndpoint = {
  method: "POST",
  path: "/v1/audio/transcriptions",
  id: "createTranscription",
  group: "Audio and images",
  summary: "Write down what is said in an audio file",
  description: `The format of OpenAI's transcriptions. Needs a model whose \`type\` is \`transcription\`.${UPLOAD_LIMITS}`,
  access: "counted",
  body: {
    type: "multipart/form-data",
    schema: Type.Object(
      {
        ...COMMON,
        language: Type.Optional(Type.String({ description: "Language of the audio, as `en`." })),
        response_format: Type.Optional(oneOf(TRANSCRIPTION_FORMATS, { default: "json" })),
        stream: STREAM,
        "timestamp_granularities[]": passedOn("`word`, `segment` or both, for `verbose_json`."),
        "include[]": passedOn("`logprobs`."),
        chunking_strategy: passedOn("How long audio is cut."),
      },
      { $id: "TranscriptionRequest", additionalProperties: true },
    ),
    examples: {},
  },
  answer: {
    ...TRANSCRIPT,
    events: {
      description: "With `stream`: `transcript.text.delta` for each piece, `transcript.text.done` at the end.",
      schema: Type.Object(
        { type: Type.String(), delta: Type.Optional(Type.String()), text: Type.Optional(Type.String()) },
        { $id: "TranscriptionEvent", additionalProperties: true },
      ),
    },
  },
  errors: MODEL_ERRORS,
};

const TRANSLATE: ApiEndpoint = {
  method: "POST",
  path: "/v1/audio/translations",
  id: "createTranslation",
  group: "Audio and images",
  summary: "Write down in English what is said in an audio file",
  description: `The format of OpenAI's translations. Needs a model whose \`type\` is \`transcription\`.${UPLOAD_LIMITS}`,
  access: "counted",
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

/** The endpoints. */
export const AUDIO_ENDPOINTS: readonly ApiEndpoint[] = [TRANSCRIBE, TRANSLATE];
