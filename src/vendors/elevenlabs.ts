// ElevenLabs: speech and transcriptions. Sources: elevenlabs.io/docs/api-reference/text-to-speech/convert, /speech-to-text/convert,
// /models/list (2026-11).

import type { Vendor } from "./vendor.ts";

export const elevenlabs: Vendor = {
  name: "elevenlabs",
  title: "ElevenLabs",
  api: {
    kind: "openai",
    baseUrl: "https://api.elevenlabs.io/v1",
    domains: ["elevenlabs.io"],
    traceName: "elevenlabs",
    variable: { name: "ELEVENLABS_API_KEY", holds: "key", alone: true },
    keyBegins: "sk_",
    auth: { header: "xi-api-key" },
    dialects: { "openai-chat": { audio: "elevenlabs" } },
    models: {
      path: "/models",
      id: "model_id",
      facts: { name: "name", description: "description" },
      active: "can_do_text_to_speech",
      kinds: { speech: "can_do_text_to_speech" },
    },
    note: "Speech and transcriptions; `voice` is the id of a voice. Models such as `scribe_v1` are configured.",
  },
};
