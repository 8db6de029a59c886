// Stack Overflow, by Stack Exchange's API.

import { address, jsonHeaders, pageSize, rangeStart } from "../address.ts";
import { type SearchEngine, TIME_RANGES } from "../engine.ts";
import { readJsonAnswer, valueAt } from "../reading/json.ts";
import { rateLimited } from "../reading/status.ts";
import { counted, joined } from "../reading/text.ts";

/** The API's error id for a client that sends too many requests. */
const THROTTLED = 502;

export const stackexchange: SearchEngine = {
  name: "stackexchange",
  categories: ["it"],
  about: { website: "https://stackoverflow.com", official: true },
  enabledByDefault: true,
  optionalKey: { looksLike: "a Stack Apps key", requestRate: { requests: 10_000, perMs: 86_400_000 } },
  network: "stackexchange",
  requestRate: { requests: 300, perMs: 86_400_000 },
  timeoutMs: 6000,
  pagesMax: 10,
  timeRanges: TIME_RANGES,
  selectors: {
    results: "items",
    title: "title",
    url: "link",
    date: "creation_date",
    tags: "tags",
    score: "score",
    answers: "answer_count",
    answered: "is_answered",
    backoff: "backoff",
  },
  request(context) {
    const since = rangeStart(context);
    const url = address(context, "https://api.stackexchange.com", "/2.3/search/advanced", {
      q: context.query.text,
      site: "stackoverflow",
      page: context.query.page,
      pagesize: pageSize(context, 20),
      sort: "relevance",
      order: "desc",
      fromdate: since && Math.floor(since.getTime() / 1000),
      key: context.settings.apiKey,
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: stackexchange,
      markup: ["title"],
      failure(body, response) {
        const id = valueAt(body, "error_id");
        if (id !== THROTTLED) return undefined;
        const seconds = /(\d{1,6}) seconds/.exec(String(valueAt(body, "error_message")).slice(0, 500))?.[1];
        const statedMs = seconds === undefined ? undefined : Number(seconds) * 1000;
        return rateLimited(response, undefined, statedMs);
      },
      draft(fields) {
        const [score, answers] = [fields.literal("score"), counted(fields.literal("answers"), "answer")];
        const answered = fields.raw("answered") === true ? ", one accepted or upvoted" : "";
        return {
          snippet: joined([fields.literal("tags"), score && `score ${score}`, answers && `${answers}${answered}`]),
        };
      },
      more(fields) {
        const seconds = fields.raw("backoff");
        return typeof seconds === "number" ? { backOffMs: seconds * 1000 } : {};
      },
    }),
};
