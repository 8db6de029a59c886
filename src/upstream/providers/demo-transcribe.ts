// The built-in transcription model. It does not understand speech, but states what the file is. All formats of OpenAI's endpoint
// are supported.

import { FormScanner, formBoundary } from "../../base/form-scanner.ts";
import { AudioListener, type HeardAudio } from "./demo-audio.ts";

/** Answers an upload. */
export async function demoTranscription(init: BunFetchRequestInit): Promise<Response> {
  const type = new Headers(init.headers as Record<string, string>).get("content-type") ?? "";
  const listener = new AudioListener();
  const scanner = new FormScanner(formBoundary(type), "", (bytes) => listener.hear(bytes));
  for await (const chunk of init.body as ReadableStream<Uint8Array>) scanner.push(chunk, []);
  scanner.end();
  const field = (name: string) => scanner.fields.get(name)?.[0];
  const audio = listener.result();
  const text = describe(audio);
  const usage = { type: "duration", seconds: Math.ceil(audio.seconds ?? 0) };
  if (/^(?:true|1)$/i.test(field("stream") ?? "")) return events(text, usage);
  return whole(text, { format: field("response_format") ?? "json", seconds: audio.seconds ?? 0, usage });
}

function describe({ format, seconds, bytes }: HeardAudio): string {
  const length = seconds === undefined ? "of unknown length" : `of ${Number(seconds.toFixed(2))} seconds`;
  return `Demo transcription: ${format === "unknown" ? "audio of an unknown format" : `${format} audio`}, ${length}, ${bytes} bytes.`;
}

interface Told {
  readonly format: string;
  readonly seconds: number;
  readonly usage: object;
}

function whole(text: string, { format, seconds, usage }: Told): Response {
  const segment = { id: 0, start: 0, end: seconds, text };
  switch (format) {
    case "text":
      return plain(`${text}\n`);
    case "srt":
      return plain(`1\n${clock(0, ",")} --> ${clock(seconds, ",")}\n${text}\n\n`);
    case "vtt":
      return plain(`WEBVTT\n\n${clock(0, ".")} --> ${clock(seconds, ".")}\n${text}\n\n`);
    case "verbose_json": {
      const rest = { seek: 0, tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 };
      const segments = [{ ...segment, ...rest }];
      return Response.json({ task: "transcribe", language: "english", duration: seconds, text, segments, usage });
    }
    case "diarized_json": {
      const segments = [{ ...segment, id: "seg_0", type: "transcript.text.segment", speaker: "A" }];
      return Response.json({ task: "transcribe", duration: seconds, text, segments, usage });
    }
    default:
      return Response.json({ text, usage });
  }
}

function plain(text: string): Response {
  return new Response(text, { headers: { "content-type": "text/plain; charset=utf-8" } });
}

function events(text: string, usage: object): Response {
  const deltas = (text.match(/\s*\S+/g) ?? []).map((delta) => ({ type: "transcript.text.delta", delta }));
  const all = [...deltas, { type: "transcript.text.done", text, usage }];
  const body = all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** A time such as `00:01:02,500`. The formats of subtitles differ in the mark before the milliseconds. */
function clock(seconds: number, mark: string): string {
  const ms = Math.round(seconds * 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${mark}${String(ms % 1000).padStart(3, "0")}`;
}
