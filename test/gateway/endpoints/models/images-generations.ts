import type { EndpointFixture } from "./fixture.ts";

const data = [{ b64_json: "iVBORw0KGgo=" }];

export const fixture: EndpointFixture = {
  body: { prompt: "A gate by the sea", size: "256x256", unknown_member: { kept: 1.0 } },
  answer: () => ({ created: 1, data, usage: { input_tokens: 6, output_tokens: 50, total_tokens: 56 } }),
  tokens: 6,
  untold: () => ({ created: 1, data: [] }),
  refused: [
    [{ prompt: undefined }, "prompt"],
    [{ prompt: "" }, "prompt"],
    [{ n: 0 }, "n"],
    [{ n: 1.5 }, "n"],
    [{ n: 101 }, "n"],
    [{ response_format: "file" }, "response_format"],
    [{ stream: "maybe" }, "stream"],
  ],
};
