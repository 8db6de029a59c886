// The provider that is part of the program: no key, no network. What it does is upstream/providers/demo.ts.

import type { Vendor } from "./vendor.ts";

/** The demo. */
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
      ],
    },
    note: "Built in; always there unless `providers.demo.enabled` is false.",
  },
};
