// Deepgram: speech and transcriptions. Sources: developers.deepgram.com/reference/text-to-speech/speak-request and
// /reference/speech-to-text/listen-pre-recorded (2026-11).

import type { Vendor } from "./vendor.ts";

export const deepgram: Vendor = {
  name: "deepgram",
  title: "Deepgram",
  api: {
    kind: "openai",
    baseUrl: "https://api.deepgram.com/v1",
    domains: ["deepgram.com"],
    traceName: "deepgram",
    variable: { name: "DEEPGRAM_API_KEY", holds: "key", alone: true },
    auth: { header: "authorization", word: "Token" },
    dialects: { "openai-chat": { audio: "deepgram" } },
    note: "Speech and transcriptions. Lists no models: configure those that are used, with their `kind`.",
  },
};
