import type { EndpointFixture } from "./fixture.ts";

const text = "We are here.";

export const fixture: EndpointFixture = {
  body: { prompt: "Names: Anna, Otto.", temperature: "0.5", unknown_field: "kept" },
  files: { file: "RIFF and so on" },
  answer: () => ({ text, usage: { type: "tokens", input_tokens: 11, output_tokens: 4, total_tokens: 15 } }),
  tokens: 11,
  untold: () => ({ text }),
  refused: [
    [{ response_format: "docx" }, "response_format"],
    [{ temperature: "1.5" }, "temperature"],
    [{ temperature: "warm" }, "temperature"],
    [{ stream: "perhaps" }, "stream"],
  ],
};
