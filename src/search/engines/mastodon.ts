// Accounts and hashtags of a Mastodon server. Only users of the server can search posts.

import { address, jsonHeaders, pageSize } from "../address.ts";
import type { SearchEngine } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";
import { counted, joined } from "../reading/text.ts";

export const mastodon: SearchEngine = {
  name: "mastodon",
  categories: ["social media"],
  weight: 0.8,
  about: { website: "https://mastodon.social", official: true },
  enabledByDefault: true,
  network: "mastodon",
  requestRate: { requests: 300, perMs: 300_000 },
  timeoutMs: 6000,
  selectors: {
    results: "accounts,hashtags",
    title: "display_name|username|name",
    url: "url|uri",
    snippet: "note",
    handle: "acct",
    followers: "followers_count",
    uses: "history.0.uses",
    thumbnail: "avatar",
  },
  request(context) {
    const url = address(context, "https://mastodon.social", "/api/v2/search", {
      q: context.query.text,
      resolve: "false",
      limit: pageSize(context, 40),
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: mastodon,
      draft(fields) {
        const [handle, uses] = [fields.literal("handle"), fields.literal("uses")];
        const title = fields.literal("title");
        return {
          title: handle === "" ? `#${title}` : joined([title, `@${handle}`], " "),
          snippet: joined([
            fields.text("snippet"),
            counted(fields.literal("followers"), "follower"),
            uses && `used ${uses} times today`,
          ]),
          publishedAt: undefined,
        };
      },
    }),
};
