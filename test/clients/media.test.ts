// Audio and pictures with the clients of OpenAI and Vercel, against the running program and its built-in models.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { experimental_generateSpeech, experimental_transcribe, generateImage } from "ai";
import { OpenAI, toFile } from "openai";
import { type Program, startProgram } from "../support/program.ts";

(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

let program: Program;
let client: OpenAI;
beforeAll(async () => {
  program = await startProgram({});
  client = new OpenAI({ apiKey: program.key, baseURL: `${program.url}/v1`, maxRetries: 0 });
});
afterAll(() => program.stop());

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
const speak = async () => {
  const said = await client.audio.speech.create({ model: "demo-speak", voice: "alloy", input: "Hello." });
  return Buffer.from(await said.arrayBuffer());
};
const HEARD = "Demo transcription: WAV audio, of 0.64 seconds, 30764 bytes.";

describe("openai", () => {
  test("audio.speech and audio.transcriptions", async () => {
    const file = await toFile(await speak(), "said.wav");
    const heard = await client.audio.transcriptions.create({ file, model: "demo-transcribe" });
    expect(heard).toMatchObject({ text: HEARD, usage: { type: "duration", seconds: 1 } });
  });

  test("audio.transcriptions as a stream", async () => {
    const file = await toFile(await speak(), "said.wav");
    const stream = await client.audio.transcriptions.create({ file, model: "demo-transcribe", stream: true });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect([types[0], types.at(-1)]).toEqual(["transcript.text.delta", "transcript.text.done"]);
  });

  test("audio.translations", async () => {
    const file = await toFile(await speak(), "said.wav");
    expect(await client.audio.translations.create({ file, model: "demo-transcribe" })).toMatchObject({ text: HEARD });
  });

  test("images.generate and images.edit", async () => {
    const size = "256x256" as const;
    const made = await client.images.generate({ model: "demo-image", prompt: "A gate", size });
    expect(Buffer.from(made.data?.[0]?.b64_json ?? "", "base64").subarray(0, 4)).toEqual(PNG);
    const image = await toFile(Buffer.from(made.data?.[0]?.b64_json ?? "", "base64"), "gate.png");
    const changed = await client.images.edit({ model: "demo-image", prompt: "At night", image: [image, image], size });
    expect(changed.data?.[0]?.b64_json).not.toBe(made.data?.[0]?.b64_json as string);
  });

  test("a model of another kind", async () => {
    const asked = client.images.generate({ model: "demo-speak", prompt: "A gate" });
    expect(await asked.catch((error: unknown) => error)).toMatchObject({ status: 400, code: "wrong_model_family" });
  });
});

describe("ai with @ai-sdk/openai", () => {
  const openai = () => createOpenAI({ apiKey: program.key, baseURL: `${program.url}/v1` });

  test("generateSpeech and transcribe", async () => {
    const { audio } = await experimental_generateSpeech({
      ...{ model: openai().speech("demo-speak"), text: "Hello.", voice: "alloy", maxRetries: 0 },
    });
    expect(Buffer.from(audio.uint8Array).toString("latin1", 0, 4)).toBe("RIFF");
    const { text } = await experimental_transcribe({
      ...{ model: openai().transcription("demo-transcribe"), audio: audio.uint8Array, maxRetries: 0 },
    });
    expect(text).toBe(HEARD);
  });

  test("generateImage", async () => {
    const { image } = await generateImage({
      ...{ model: openai().image("demo-image"), prompt: "A gate", size: "256x256", maxRetries: 0 },
    });
    expect(Buffer.from(image.uint8Array).subarray(0, 4)).toEqual(PNG);
  });
});
