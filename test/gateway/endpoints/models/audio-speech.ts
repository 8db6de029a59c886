import type { EndpointFixture } from "./fixture.ts";

export const fixture: EndpointFixture = {
  body: { input: "We are here.", voice: "alloy", unknown_member: { kept: 1.0 } },
  // Some servers wrap the audio in JSON.
  answer: () => ({ audio: "UklGRg==", usage: { input_tokens: 4, output_tokens: 0 } }),
  tokens: 4,
  untold: () => ({ audio: "UklGRg==" }),
  refused: [
    [{ input: undefined }, "input"],
    [{ input: "" }, "input"],
    [{ speed: 0 }, "speed"],
    [{ speed: "fast" }, "speed"],
    [{ response_format: 3 }, "response_format"],
    [{ stream_format: "wav" }, "stream_format"],
  ],
};
