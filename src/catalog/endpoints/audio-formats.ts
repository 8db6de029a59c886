// Speech and transcriptions at vendors whose endpoints differ from OpenAI's. Sources: elevenlabs.io/docs/api-reference
// (text-to-speech, speech-to-text), developers.deepgram.com/reference (speak, listen), read in 2026-11.

import { isRecord } from "../../base/json-object.ts";
import { refuseParam } from "./checks.ts";
import type { FormatConversion, JsonObject } from "./endpoint.ts";

/** Speech, by the value of the quirk. */
export const SPEECH_FORMATS: Readonly<Record<string, FormatConversion | undefined>> = {
  elevenlabs: {
    path(_model, { voice, response_format: format = "mp3" }) {
      const output = ELEVENLABS_OUTPUTS.get(format as string);
      if (output === undefined) refuseParam("response_format", `one of ${[...ELEVENLABS_OUTPUTS.keys()].join(", ")}`);
      const id = typeof voice === "string" ? voice : (voice as JsonObject | null | undefined)?.["id"];
      if (typeof id !== "string" || id === "") refuseParam("voice", "the id of a voice");
      return `/text-to-speech/${encodeURIComponent(id)}?output_format=${output}`;
    },
    body({ input, speed, instructions, stream_format: streams }, model) {
      refuseForeign({ instructions, streams });
      return { text: input, model_id: model, ...(speed == null ? {} : { voice_settings: { speed } }) };
    },
    answer: notBytes,
    passesBytes: true,
  },
  deepgram: {
    path(model, { voice, response_format: format = "mp3" }) {
      const output = DEEPGRAM_OUTPUTS.get(format as string);
      if (output === undefined) refuseParam("response_format", `one of ${[...DEEPGRAM_OUTPUTS.keys()].join(", ")}`);
      // A voice is a model there.
      const name = typeof voice === "string" && voice.startsWith("aura") ? voice : model;
      return `/speak?model=${encodeURIComponent(name)}&${output}`;
    },
    body({ input, instructions, speed, stream_format: streams }) {
      refuseForeign({ instructions, streams });
      if (speed != null && speed !== 1) refuseParam("speed", "1: the provider of this model has no other");
      return { text: input };
    },
    answer: notBytes,
    passesBytes: true,
  },
};

/** Transcriptions, by the value of the quirk. */
export const TRANSCRIPTION_FORMATS: Readonly<Record<string, FormatConversion | undefined>> = {
  elevenlabs: {
    path: () => "/speech-to-text",
    body(asked, model) {
      const { language } = heardIn(asked);
      return { model_id: model, ...(language === undefined ? {} : { language_code: language }) };
    },
    answer(value) {
      const { text, language_code: language, words } = value as JsonObject;
      if (typeof text !== "string") throw new TypeError("The answer has no text.");
      const last = Array.isArray(words) ? (words.at(-1) as JsonObject | undefined)?.["end"] : undefined;
      return { text, ...(typeof language === "string" ? { language } : {}), ...timed(last) };
    },
  },
  deepgram: {
    path(model, asked) {
      const { language } = heardIn(asked);
      const tongue = language === undefined ? "detect_language=true" : `language=${encodeURIComponent(language)}`;
      return `/listen?model=${encodeURIComponent(model)}&smart_format=true&${tongue}`;
    },
    body: () => ({}),
    answer(value) {
      const { results, metadata } = value as { results?: JsonObject; metadata?: JsonObject };
      const channel = (results?.["channels"] as JsonObject[] | undefined)?.[0];
      const best = (channel?.["alternatives"] as JsonObject[] | undefined)?.[0];
      if (!isRecord(best) || typeof best["transcript"] !== "string")
        throw new TypeError("The answer has no transcript.");
      const language = channel?.["detected_language"];
      return {
        text: best["transcript"],
        ...(typeof language === "string" ? { language } : {}),
        ...timed(metadata?.["duration"]),
      };
    },
    sendsFileAlone: true,
  },
};

const ELEVENLABS_OUTPUTS: ReadonlyMap<string, string> = new Map([
  ["mp3", "mp3_44100_128"],
  ["opus", "opus_48000_96"],
  ["pcm", "pcm_24000"],
]);

const DEEPGRAM_OUTPUTS: ReadonlyMap<string, string> = new Map([
  ["mp3", "encoding=mp3"],
  ["opus", "encoding=opus"],
  ["aac", "encoding=aac"],
  ["flac", "encoding=flac"],
  ["wav", "encoding=linear16&container=wav"],
  ["pcm", "encoding=linear16&container=none&sample_rate=24000"],
]);

/** Refuses what only OpenAI's models have, rather than answering otherwise than was asked. */
function refuseForeign({ instructions, streams }: { instructions: unknown; streams: unknown }): void {
  if (instructions != null && instructions !== "") refuseParam("instructions", "absent: this model takes none");
  if (streams === "sse") refuseParam("stream_format", '"audio": the provider of this model sends no events');
}

/** Fields of OpenAI's form that the others do not have. */
const FOREIGN_FIELDS = ["prompt", "temperature", "timestamp_granularities[]", "include[]", "chunking_strategy"];

/** The language of a form. Throws if it asks for what the vendors do not have, such as an answer that is not JSON. */
function heardIn(asked: JsonObject): { language: string | undefined } {
  const { response_format: format, stream, language } = asked;
  const foreign = FOREIGN_FIELDS.find((name) => asked[name] !== undefined);
  if (foreign !== undefined) refuseParam(foreign, "absent: the provider of this model has no such field");
  if (format !== undefined && format !== "json" && format !== "verbose_json") {
    refuseParam("response_format", "json or verbose_json: the provider of this model has no other");
  }
  if (/^(?:true|1)$/i.test(String(stream))) refuseParam("stream", "false: the provider of this model does not stream");
  return { language: typeof language === "string" && language !== "" ? language : undefined };
}

/** The duration of the audio, and the usage that follows from it. */
function timed(seconds: unknown): JsonObject {
  return typeof seconds === "number" && seconds >= 0 ? { duration: seconds, usage: { type: "duration", seconds } } : {};
}

function notBytes(): never {
  throw new TypeError("The answer is JSON, not audio.");
}
