// The built-in speech model. Every letter becomes a short tone of its own pitch. It says nothing, but it is a real recording of
// the right length, as WAV or as bare samples for `pcm`.

import { countTokens } from "../../tokens/count.ts";

type Json = Readonly<Record<string, unknown>>;

/** Samples in a second, as in OpenAI's `pcm`. */
const RATE = 24_000;
const LETTER_SECONDS = 0.08;
const PAUSE_SECONDS = 0.24;
const LOUDNESS = 9000;
const FASTEST = 4;

/** Answers a request for speech. */
export function demoSpeech({ input, speed, response_format: format, stream_format: streams }: Json): Response {
  const text = String(input);
  const sounds = soundsOf(text, typeof speed === "number" ? Math.min(speed, FASTEST) : 1);
  const isPcm = format === "pcm";
  const head = isPcm ? Buffer.alloc(0) : wavHead(sounds.reduce((sum, { samples }) => sum + samples, 0) * 2);
  if (streams === "sse") return events(head, sounds, countTokens(text));
  const waiting = sounds.values();
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (head.byteLength > 0) controller.enqueue(head);
      },
      pull(controller) {
        const { done, value } = waiting.next();
        if (done === true) controller.close();
        else controller.enqueue(samplesOf(value));
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": isPcm ? "audio/pcm" : "audio/wav" } });
}

interface Sound {
  readonly letter: string;
  readonly samples: number;
}

function soundsOf(text: string, speed: number): Sound[] {
  return [...text.toLowerCase()].map((letter) => {
    const seconds = /[.,;:!?\n]/.test(letter) ? PAUSE_SECONDS : LETTER_SECONDS;
    return { letter, samples: Math.max(1, Math.round((seconds * RATE) / speed)) };
  });
}

function samplesOf({ letter, samples }: Sound): Buffer {
  const out = Buffer.alloc(samples * 2);
  if (!/[\p{L}\p{N}]/u.test(letter)) return out;
  const hertz = 200 + 20 * ((letter.codePointAt(0) ?? 0) % 32);
  for (let at = 0; at < samples; at++) {
    // Each tone begins and ends softly, so that there are no clicks.
    const fade = Math.min(1, Math.min(at, samples - at) / (0.15 * samples));
    out.writeInt16LE(Math.round(Math.sin((2 * Math.PI * hertz * at) / RATE) * fade * LOUDNESS), at * 2);
  }
  return out;
}

/** The 44 bytes of the header before 16-bit samples of one channel. */
function wavHead(bytes: number): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + bytes, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(RATE * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(bytes, 40);
  return head;
}

function events(head: Buffer, sounds: readonly Sound[], tokens: number): Response {
  const pieces = [...(head.byteLength > 0 ? [head] : []), ...sounds.map(samplesOf)];
  const deltas = pieces.map((piece) => ({ type: "speech.audio.delta", audio: piece.toString("base64") }));
  const usage = { input_tokens: tokens, output_tokens: sounds.length, total_tokens: tokens + sounds.length };
  const all = [...deltas, { type: "speech.audio.done", usage }];
  const text = all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}
