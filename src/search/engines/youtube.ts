// YouTube's result page, of which the data in its script is read. Its terms of use are for people, so the operator must enable
// it.

import { address, browserHeaders, cookies } from "../address.ts";
import type { SearchEngine, TimeRange } from "../engine.ts";
import { readItems, selectorsOf, settled, strangeSelector, valueAt } from "../reading/json.ts";
import { objectAfter } from "../reading/script.ts";
import { failed, statusFailure } from "../reading/status.ts";
import { joined, oneLine } from "../reading/text.ts";

const RANGES: Readonly<Record<TimeRange, string>> = { day: "Ag", week: "Aw", month: "BA", year: "BQ" };

export const youtube: SearchEngine = {
  name: "youtube",
  categories: ["videos"],
  about: { website: "https://www.youtube.com", official: false },
  enabledByDefault: false,
  network: "youtube",
  requestRate: { requests: 1, perMs: 1000 },
  timeoutMs: 8000,
  timeRanges: ["day", "week", "month", "year"],
  selectors: {
    state: "ytInitialData =",
    sections: "contents.twoColumnSearchResultsRenderer.primaryContents.sectionListRenderer.contents",
    results: "itemSectionRenderer.contents",
    video: "videoRenderer",
    none: "backgroundPromoRenderer",
    id: "videoId",
    title: "title",
    snippet: "descriptionSnippet|detailedMetadataSnippets.0.snippetText",
    channel: "ownerText|longBylineText",
    duration: "lengthText",
    views: "viewCountText",
    date: "publishedTimeText.simpleText",
  },
  request(context) {
    const { query } = context;
    const url = address(context, "https://www.youtube.com", "/results", {
      search_query: query.text,
      // The page expects that the parameter is escaped twice.
      sp: query.timeRange && `EgII${RANGES[query.timeRange]}%3D%3D`,
    });
    return { method: "GET", url, headers: browserHeaders(context, { cookie: cookies({ CONSENT: "YES+" }) }) };
  },
  parse(response, context) {
    const strange = strangeSelector(youtube, context);
    if (strange !== undefined) return strange;
    const failure = statusFailure(response);
    if (failure !== undefined) return { kind: "failure", failure };
    const selectors = selectorsOf(youtube, context);
    const state = objectAfter(response.body, selectors["state"] ?? "");
    if (state === undefined && new URL(response.url).hostname.startsWith("consent."))
      return failed("blocked", "The engine requires that a person agrees to its terms.");
    const sections = valueAt(state, selectors["sections"] ?? "");
    if (!Array.isArray(sections))
      return failed("changed_markup", `The answer has no list at "${selectors["sections"]}".`);
    const items = sections.flatMap((section) => listAt(section, selectors["results"] ?? ""));
    const videos = items.flatMap((item) => valueAt(item, selectors["video"] ?? "") ?? []);
    const isEmpty = items.some((item) => valueAt(item, selectors["none"] ?? "") !== undefined);
    if (videos.length === 0 && !isEmpty) return failed("changed_markup", "The answer contains no videos.");
    return readItems({ videos }, settled(context), {
      engine: { selectors: { ...selectors, results: "videos" } },
      draft(fields) {
        const id = fields.literal("id");
        if (!/^[\w-]{6,20}$/.test(id)) return undefined;
        const text = (name: string) => textOf(fields.raw(name));
        return {
          url: `https://www.youtube.com/watch?v=${id}`,
          title: text("title"),
          snippet: joined([text("snippet"), text("channel"), text("duration"), text("views")]),
          thumbnail: `https://i.ytimg.com/vi/${id}/hqdefault.jpg`,
        };
      },
    });
  },
};

function listAt(value: unknown, path: string): unknown[] {
  const list = valueAt(value, path);
  return Array.isArray(list) ? list : [];
}

/** The text of a value, which is one string or a list of runs. */
function textOf(value: unknown): string {
  const simple = valueAt(value, "simpleText");
  if (typeof simple === "string") return oneLine(simple);
  const pieces = listAt(value, "runs").map((run) => valueAt(run, "text"));
  return oneLine(pieces.filter((piece) => typeof piece === "string").join(""));
}
