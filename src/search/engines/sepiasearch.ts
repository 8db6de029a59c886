// Sepia Search: videos of the PeerTube servers in Framasoft's index.

import { address, jsonHeaders, offset, pageSize, primaryLanguage, rangeStart } from "../address.ts";
import { type EngineContext, type SearchEngine, TIME_RANGES } from "../engine.ts";
import { type ItemFields, type PartialHit, readJsonAnswer } from "../reading/json.ts";
import { clock, counted, joined } from "../reading/text.ts";

/** The selectors for responses of all servers with PeerTube's search API. */
export const VIDEO_SELECTORS = {
  results: "data",
  title: "name",
  url: "url",
  snippet: "description|truncatedDescription",
  date: "publishedAt",
  thumbnail: "thumbnailUrl|previewUrl",
  channel: "channel.displayName|account.displayName",
  duration: "duration",
  views: "views",
} as const;

export const sepiasearch: SearchEngine = {
  name: "sepiasearch",
  categories: ["videos"],
  about: { website: "https://sepiasearch.org", official: true },
  enabledByDefault: true,
  network: "framasoft",
  timeoutMs: 6000,
  pagesMax: 10,
  languages: "any",
  timeRanges: TIME_RANGES,
  safeSearch: true,
  selectors: VIDEO_SELECTORS,
  request: (context) => videoRequest(context, "https://sepiasearch.org", {}),
  parse: (response, context) => readJsonAnswer(response, context, { engine: sepiasearch, draft: videoDraft }),
};

/** A request for videos, for PeerTube and its index. */
export function videoRequest(context: EngineContext, origin: string, more: Readonly<Record<string, string>>) {
  const size = pageSize(context, 20);
  const language = primaryLanguage(context);
  const url = address(context, origin, "/api/v1/search/videos", {
    search: context.query.text,
    start: String(offset(context, size)),
    count: size,
    sort: "-match",
    nsfw: context.query.safe === "off" ? "both" : "false",
    "languageOneOf[]": language,
    "boostLanguages[]": language,
    startDate: rangeStart(context)?.toISOString(),
    ...more,
  });
  return { method: "GET", url, headers: jsonHeaders(context) } as const;
}

/** A hit for a video. */
export function videoDraft(fields: ItemFields): PartialHit {
  return {
    snippet: joined([
      fields.literal("snippet"),
      fields.literal("channel"),
      clock(Number(fields.raw("duration"))),
      counted(fields.literal("views"), "view"),
    ]),
  };
}
