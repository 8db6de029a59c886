// Dailymotion.

import { address, jsonHeaders, pageSize, primaryLanguage, rangeStart } from "../address.ts";
import { type SearchEngine, TIME_RANGES } from "../engine.ts";
import { readJsonAnswer, valueAt } from "../reading/json.ts";
import { failed, rateLimited } from "../reading/status.ts";
import { clock, joined } from "../reading/text.ts";

const FIELDS = "id,title,description,url,created_time,duration,thumbnail_360_url,allow_embed";

export const dailymotion: SearchEngine = {
  name: "dailymotion",
  categories: ["videos"],
  about: { website: "https://www.dailymotion.com", official: true },
  enabledByDefault: true,
  network: "dailymotion",
  timeoutMs: 6000,
  pagesMax: 10,
  languages: "any",
  timeRanges: TIME_RANGES,
  safeSearch: true,
  selectors: {
    results: "list",
    title: "title",
    url: "url",
    snippet: "description",
    date: "created_time",
    thumbnail: "thumbnail_360_url",
    duration: "duration",
  },
  request(context) {
    const since = rangeStart(context);
    const url = address(context, "https://api.dailymotion.com", "/videos", {
      search: context.query.text,
      fields: FIELDS,
      limit: pageSize(context, 20),
      page: context.query.page,
      sort: "relevance",
      languages: primaryLanguage(context),
      family_filter: context.query.safe === "off" ? "false" : "true",
      password_protected: "false",
      private: "false",
      created_after: since && Math.floor(since.getTime() / 1000),
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: dailymotion,
      markup: ["title"],
      failure(body, response) {
        const { status } = response;
        const code = valueAt(body, "error.code");
        if (code === undefined || status >= 500) return undefined;
        if (code === 429) return rateLimited(response);
        return status === 200 || status === 400 ? failed("refused", "The engine refused the request.") : undefined;
      },
      draft: (fields) => ({ snippet: joined([fields.text("snippet"), clock(Number(fields.raw("duration")))]) }),
    }),
};
