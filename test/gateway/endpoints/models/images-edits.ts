import type { EndpointFixture } from "./fixture.ts";

const data = [{ b64_json: "iVBORw0KGgo=" }];

export const fixture: EndpointFixture = {
  body: { prompt: "At night", size: "256x256", unknown_field: "kept" },
  files: { image: "first picture", mask: "which part" },
  answer: () => ({ created: 1, data, usage: { input_tokens: 8, output_tokens: 50, total_tokens: 58 } }),
  tokens: 8,
  untold: () => ({ created: 1, data: [] }),
  refused: [
    [{ prompt: "" }, "prompt"],
    [{ n: "0" }, "n"],
    [{ n: "many" }, "n"],
    [{ response_format: "file" }, "response_format"],
    [{ stream: "maybe" }, "stream"],
  ],
};
