// The embedded provider: no key, no network. Its behaviour is in upstream/providers/demo.ts.

import type { Vendor } from "./vendor.ts";

export const demo: Vendor = {
  name: "demo",
  title: "Demo",
  api: {
    kind: "demo",
    baseUrl: "",
    dialects: { "openai-chat": {} },
    embedded: {
      answeredBy: "demo",
      models: [
        {
          id: "demo-echo",
          name: "Demo echo",
          description:
            "Built-in demo, not a language model: it repeats the last user message word by word. For first steps and smoke tests.",
          contextLength: 128_000,
          maxOutputTokens: 32_000,
          supportsTools: true,
          supportsVision: true,
          supportsReasoning: false,
        },
        {
          id: "demo-embed",
          kind: "embedding",
          name: "Demo embed",
          description:
            "Built-in demo: vectors by the words of a text. The more words two texts share, the nearer they are.",
          contextLength: 128_000,
        },
        {
          id: "demo-rerank",
          kind: "rerank",
          name: "Demo rerank",
          description: "Built-in demo: ranks documents by the words that they share with the query.",
          contextLength: 128_000,
        },
        {
          id: "demo-transcribe",
          kind: "transcription",
          name: "Demo transcribe",
          description:
            "Built-in demo: it does not understand speech, it says how long an audio file is and of what format.",
        },
        {
          id: "demo-speak",
          kind: "speech",
          name: "Demo speak",
          description: "Built-in demo: a WAV with a short sound for each letter of the text, no words.",
        },
        {
          id: "demo-image",
          kind: "image",
          name: "Demo image",
          description: "Built-in demo: a PNG that shows the words of the prompt.",
        },
      ],
      decisionModels: [
        {
          id: "demo-decide",
          name: "Demo decide",
          description:
            "Built-in demo, it understands nothing: an answer is the more probable, the more of its words occur in the state.",
        },
      ],
    },
    note: "Built in; always there unless `providers.demo.enabled` is false.",
  },
};
