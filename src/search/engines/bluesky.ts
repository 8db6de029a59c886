// Posts on Bluesky. Searching needs a session, which is opened with the app password of an account and kept for an hour.

import { address, jsonHeaders, jsonPost, pageSize, primaryLanguage, rangeStart } from "../address.ts";
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
import { counted, joined } from "../reading/text.ts";

const SEARCH = "search";
/** How long a session is kept; it lasts about two hours. */
const SESSION_MS = 3_600_000;

export const bluesky: SearchEngine = {
  name: "bluesky",
  categories: ["social media"],
  about: { website: "https://bsky.app", official: true },
  enabledByDefault: false,
  key: { looksLike: "identifier:app-password" },
  network: "bluesky",
  timeoutMs: 8000,
  languages: "any",
  timeRanges: TIME_RANGES,
  selectors: {
    token: "accessJwt",
    results: "posts",
    uri: "uri",
    handle: "author.handle",
    name: "author.displayName",
    snippet: "record.text",
    date: "record.createdAt|indexedAt",
    thumbnail: "author.avatar",
    likes: "likeCount",
    replies: "replyCount",
  },
  request(context) {
    if (context.remembered !== undefined) return search(context, context.remembered);
    const key = context.settings.apiKey ?? "";
    // An identifier may contain colons; an app password never does.
    const parted = key.lastIndexOf(":");
    const login = { identifier: key.slice(0, Math.max(0, parted)), password: key.slice(parted + 1) };
    const url = address(context, "https://bsky.social", "/xrpc/com.atproto.server.createSession");
    return { url, ...jsonPost(context, login) };
  },
  parse: (response, context) =>
    response.request.step === SEARCH ? readPosts(response, context) : readSession(response, context),
};

function readSession(response: EngineResponse, context: EngineContext): Parsed {
  const failure = statusFailure(response, { keyed: true });
  if (failure !== undefined) return { kind: "failure", failure };
  const token = valueAt(parsedJson(response.body), selectorsOf(bluesky, context)["token"] ?? "");
  if (typeof token !== "string") return failed("changed_markup", "The engine opened no session.");
  return { kind: "next", request: search(context, token), remember: { value: token, forMs: SESSION_MS } };
}

function search(context: EngineContext, token: string): EngineRequest {
  const url = address(context, "https://api.bsky.app", "/xrpc/app.bsky.feed.searchPosts", {
    q: context.query.text,
    limit: pageSize(context, 25),
    sort: "top",
    lang: primaryLanguage(context),
    since: rangeStart(context)?.toISOString(),
  });
  return { method: "GET", url, headers: jsonHeaders(context, { authorization: `Bearer ${token}` }), step: SEARCH };
}

function readPosts(response: EngineResponse, context: EngineContext): Parsed {
  return readJsonAnswer(response, context, {
    engine: bluesky,
    failure: (body) =>
      valueAt(body, "error") === "ExpiredToken" ? failed("bad_key", "The session has ended.") : undefined,
    draft(fields) {
      const handle = fields.literal("handle");
      const id = /^at:\/\/[^/]+\/app\.bsky\.feed\.post\/([\w~.-]+)$/.exec(fields.literal("uri"))?.[1];
      if (id === undefined || !/^[\w.-]+$/.test(handle)) return undefined;
      return {
        url: `https://bsky.app/profile/${handle}/post/${id}`,
        title: joined([fields.literal("name"), `@${handle}`], " "),
        snippet: joined([
          fields.literal("snippet"),
          counted(fields.literal("likes"), "like"),
          fields.literal("replies") === "1"
            ? "1 reply"
            : fields.literal("replies") && `${fields.literal("replies")} replies`,
        ]),
      };
    },
  });
}
