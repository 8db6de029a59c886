// A PeerTube server that searches its own index. Sepia Search queries such an index directly, so this engine is for operators who
// name a server of their own.

import { type SearchEngine, TIME_RANGES } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";
import { VIDEO_SELECTORS, videoDraft, videoRequest } from "./sepiasearch.ts";

export const peertube: SearchEngine = {
  name: "peertube",
  categories: ["videos"],
  weight: 0.8,
  about: { website: "https://joinpeertube.org", official: true },
  enabledByDefault: false,
  network: "peertube",
  timeoutMs: 6000,
  pagesMax: 10,
  languages: "any",
  timeRanges: TIME_RANGES,
  safeSearch: true,
  selectors: VIDEO_SELECTORS,
  request: (context) =>
    videoRequest(context, "https://peer.tube", { searchTarget: "search-index", resultType: "videos" }),
  parse: (response, context) => readJsonAnswer(response, context, { engine: peertube, draft: videoDraft }),
};
