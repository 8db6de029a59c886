// The OpenAPI description of the endpoints that generate speech and images.

import { Type } from "@sinclair/typebox";
import { anyObject, oneOf, orNull } from "../../http/endpoint.ts";
import type { EndpointText } from "../../http/served-endpoint.ts";
import { FILE_PART, MODEL, MODEL_ERRORS, MODEL_HEADERS, passedOn, STREAM, UPLOAD_LIMITS } from "./shared.ts";

const SPEECH: EndpointText = {
  id: "createSpeech",
  group: "Audio and images",
  summary: "Speak a text",
  description:
    "Uses the format of OpenAI's speech API. Requires a model whose `type` is `speech`. The body is sent to the provider unchanged.",
  body: {
    schema: Type.Object(
      {
        model: MODEL,
        input: Type.String({ minLength: 1, description: "The text." }),
        voice: passedOn("The voice, for example `alloy`."),
        instructions: passedOn("How to speak."),
        response_format: Type.Optional(
          orNull(Type.String({ description: "The audio format, for example `mp3`, `wav` or `pcm`." })),
        ),
        speed: Type.Optional(orNull(Type.Number({ exclusiveMinimum: 0 }))),
        stream_format: Type.Optional(oneOf(["audio", "sse"], { default: "audio" })),
      },
      { $id: "SpeechRequest", additionalProperties: true },
    ),
    examples: { text: { model: "demo-speak", input: "Hello.", voice: "alloy" } },
  },
  answer: {
    description: "The audio, streamed as the provider sends it, with its media type.",
    type: "audio/*",
    schema: Type.Unsafe<string>({ type: "string", contentMediaType: "audio/*" }),
    headers: MODEL_HEADERS,
    events: {
      description:
        "With `stream_format: sse`, the answer consists of `speech.audio.delta` events with base64 and a `speech.audio.done` event with usage.",
      schema: Type.Object(
        { type: Type.String(), audio: Type.Optional(Type.String()), usage: Type.Optional(anyObject("Tokens.")) },
        { $id: "SpeechEvent", additionalProperties: true },
      ),
    },
  },
  errors: MODEL_ERRORS,
};

const OPTIONS = {
  model: MODEL,
  prompt: Type.String({ minLength: 1, description: "A description of the image." }),
  n: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: 100, default: 1, description: "How many pictures." }))),
  size: passedOn("As `1024x1024`."),
  quality: passedOn("The quality, for example `low` or `high`."),
  background: passedOn("The background: `transparent`, `opaque` or `auto`."),
  output_format: passedOn("The file format: `png`, `jpeg` or `webp`."),
  partial_images: passedOn("The number of unfinished images in a stream."),
  response_format: Type.Optional(orNull(oneOf(["url", "b64_json"]))),
  stream: STREAM,
};

const IMAGES = {
  description: "The pictures.",
  schema: Type.Object(
    {
      created: Type.Integer(),
      data: Type.Array(
        Type.Object(
          { b64_json: Type.Optional(Type.String()), url: Type.Optional(Type.String()) },
          { additionalProperties: true },
        ),
      ),
      usage: Type.Optional(anyObject("Tokens.")),
    },
    { $id: "Images", additionalProperties: true },
  ),
  headers: MODEL_HEADERS,
  events: {
    description:
      "With `stream`, unfinished images are sent (`….partial_image`), then the finished one (`….completed`) with usage.",
    schema: Type.Object(
      { type: Type.String(), b64_json: Type.Optional(Type.String()), usage: Type.Optional(anyObject("Tokens.")) },
      { $id: "ImageEvent", additionalProperties: true },
    ),
  },
};

const GENERATE: EndpointText = {
  id: "createImage",
  group: "Audio and images",
  summary: "Generate images from a prompt",
  description:
    "Uses the format of OpenAI's images API. Requires a model whose `type` is `image`. The body is sent to the provider unchanged.",
  body: {
    schema: Type.Object(OPTIONS, { $id: "ImageRequest", additionalProperties: true }),
    examples: { prompt: { model: "demo-image", prompt: "A gate by the sea", size: "256x256" } },
  },
  answer: IMAGES,
  errors: MODEL_ERRORS,
};

const EDIT: EndpointText = {
  id: "createImageEdit",
  group: "Audio and images",
  summary: "Generate images from a prompt and other images",
  description: `Uses the format of OpenAI's image edits API, with \`image\` once or \`image[]\` several times. Requires a model whose \`type\` is \`image\`.${UPLOAD_LIMITS}`,
  body: {
    type: "multipart/form-data",
    schema: Type.Object(
      {
        ...OPTIONS,
        image: FILE_PART("An image. Several images are sent as `image[]`."),
        mask: Type.Optional(FILE_PART("A mask. The first image is changed where the mask is transparent.")),
      },
      { $id: "ImageEditRequest", additionalProperties: true },
    ),
    examples: {},
  },
  answer: IMAGES,
  errors: MODEL_ERRORS,
};

/** The descriptions by path. */
export const SYNTHESIS_PATHS = {
  "/v1/audio/speech": SPEECH,
  "/v1/images/generations": GENERATE,
  "/v1/images/edits": EDIT,
};
