// Posts on Reddit, which only serves registered programs. Their token is kept for half of its lifetime.

import { address, encoded, jsonHeaders, pageSize } from "../address.ts";
import {
  type EngineContext,
  type EngineRequest,
  type EngineResponse,
  type Parsed,
  type SearchEngine,
  TIME_RANGES,
} from "../engine.ts";
import { parsedJson, readJsonAnswer, selectorsOf, valueAt } from "../reading/json.ts";
import { failed, statusFailure } from "../reading/status.ts";
import { counted, joined, webAddress } from "../reading/text.ts";

const SEARCH = "search";
/** How long a token is kept: half of its lifetime of a day. */
const TOKEN_MS = 43_200_000;

export const reddit: SearchEngine = {
  name: "reddit",
  categories: ["social media"],
  about: { website: "https://www.reddit.com", official: true },
  enabledByDefault: false,
  key: { looksLike: "client-id:secret" },
  network: "reddit",
  requestRate: { requests: 100, perMs: 60_000 },
  timeoutMs: 8000,
  timeRanges: TIME_RANGES,
  safeSearch: true,
  selectors: {
    token: "access_token",
    results: "data.children",
    title: "data.title",
    path: "data.permalink",
    snippet: "data.selftext",
    date: "data.created_utc",
    thumbnail: "data.thumbnail",
    community: "data.subreddit_name_prefixed",
    score: "data.score",
    comments: "data.num_comments",
  },
  request(context) {
    if (context.remembered !== undefined) return search(context, context.remembered);
    const headers = jsonHeaders(context, {
      "content-type": "application/x-www-form-urlencoded",
      authorization: `Basic ${Buffer.from(context.settings.apiKey ?? "").toString("base64")}`,
    });
    const url = address(context, "https://www.reddit.com", "/api/v1/access_token");
    return { method: "POST", url, headers, body: encoded({ grant_type: "client_credentials" }) };
  },
  parse: (response, context) =>
    response.request.step === SEARCH ? readPosts(response, context) : readToken(response, context),
};

function readToken(response: EngineResponse, context: EngineContext): Parsed {
  const failure = statusFailure(response, { keyed: true });
  if (failure !== undefined) return { kind: "failure", failure };
  const body = parsedJson(response.body);
  if (valueAt(body, "error") !== undefined) return failed("bad_key", "The engine does not accept the key.");
  const token = valueAt(body, selectorsOf(reddit, context)["token"] ?? "");
  if (typeof token !== "string") return failed("changed_markup", "The engine returned no token.");
  return { kind: "next", request: search(context, token), remember: { value: token, forMs: TOKEN_MS } };
}

function search(context: EngineContext, token: string): EngineRequest {
  const url = address(context, "https://oauth.reddit.com", "/search", {
    q: context.query.text,
    limit: pageSize(context, 25),
    sort: "relevance",
    t: context.query.timeRange ?? "all",
    type: "link",
    include_over_18: context.query.safe === "off" ? "on" : undefined,
    raw_json: 1,
  });
  return { method: "GET", url, headers: jsonHeaders(context, { authorization: `Bearer ${token}` }), step: SEARCH };
}

function readPosts(response: EngineResponse, context: EngineContext): Parsed {
  return readJsonAnswer(response, context, {
    engine: reddit,
    draft(fields) {
      const score = fields.literal("score");
      return {
        url: webAddress(fields.literal("path"), "https://www.reddit.com"),
        snippet: joined([
          fields.literal("snippet"),
          fields.literal("community"),
          score && `score ${score}`,
          counted(fields.literal("comments"), "comment"),
        ]),
      };
    },
  });
}
