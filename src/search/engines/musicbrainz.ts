// Recordings in MusicBrainz.

import { address, jsonHeaders, offset, pageSize } from "../address.ts";
import type { SearchEngine } from "../engine.ts";
import { readJsonAnswer, valueAt } from "../reading/json.ts";
import { rateLimited } from "../reading/status.ts";
import { clock, joined } from "../reading/text.ts";

export const musicbrainz: SearchEngine = {
  name: "musicbrainz",
  categories: ["music"],
  about: { website: "https://musicbrainz.org", official: true },
  enabledByDefault: true,
  network: "musicbrainz",
  requestRate: { requests: 1, perMs: 1000 },
  timeoutMs: 8000,
  pagesMax: 10,
  selectors: {
    results: "recordings",
    id: "id",
    title: "title",
    date: "first-release-date",
    artists: "artist-credit",
    release: "releases.0.title",
    length: "length",
  },
  request(context) {
    const size = pageSize(context, 25);
    const url = address(context, "https://musicbrainz.org", "/ws/2/recording", {
      query: context.query.text,
      fmt: "json",
      limit: size,
      offset: String(offset(context, size)),
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: musicbrainz,
      failure(body, response) {
        const error = response.status === 503 ? valueAt(body, "error") : undefined;
        if (typeof error !== "string" || !/rate limit/i.test(error)) return undefined;
        return rateLimited(response);
      },
      draft(fields) {
        const id = fields.literal("id");
        if (!/^[0-9a-f-]{36}$/.test(id)) return undefined;
        const artists = creditOf(fields.raw("artists"));
        return {
          url: `https://musicbrainz.org/recording/${id}`,
          title: joined([fields.literal("title"), artists], " – "),
          snippet: joined([
            fields.literal("release"),
            clock(Number(fields.raw("length")) / 1000),
            fields.literal("date"),
          ]),
        };
      },
    }),
};

/** The names of the artists with the phrases that join them: "Queen & David Bowie". */
function creditOf(credit: unknown): string {
  if (!Array.isArray(credit)) return "";
  const words = credit.map((one) => `${valueAt(one, "name|artist.name") ?? ""}${valueAt(one, "joinphrase") ?? ""}`);
  return words.join("").replace(/\s+/g, " ").trim();
}
