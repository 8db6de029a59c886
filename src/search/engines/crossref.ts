// Crossref: works with a DOI.

import { address, jsonHeaders, offset, pageSize, rangeStart } from "../address.ts";
import { type SearchEngine, TIME_RANGES } from "../engine.ts";
import { dateOfParts } from "../reading/date.ts";
import { readJsonAnswer, valueAt } from "../reading/json.ts";
import { joined, plain } from "../reading/text.ts";

const AUTHORS_MAX = 3;

export const crossref: SearchEngine = {
  name: "crossref",
  categories: ["science"],
  weight: 0.8,
  about: { website: "https://www.crossref.org", official: true },
  enabledByDefault: true,
  network: "crossref",
  requestRate: { requests: 5, perMs: 1000 },
  timeoutMs: 15_000,
  pagesMax: 10,
  timeRanges: TIME_RANGES,
  selectors: {
    results: "message.items",
    title: "title",
    url: "resource.primary.URL|URL",
    snippet: "abstract",
    date: "published.date-parts.0|issued.date-parts.0",
    journal: "container-title.0|publisher",
    authors: "author",
    type: "type",
  },
  request(context) {
    const size = pageSize(context, 20);
    const since = rangeStart(context)?.toISOString().slice(0, 10);
    const url = address(context, "https://api.crossref.org", "/works", {
      query: context.query.text,
      rows: size,
      offset: offset(context, size),
      filter: since && `from-pub-date:${since}`,
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: crossref,
      markup: ["title"],
      draft(fields) {
        // A component is a figure or table of a work, which is listed itself.
        if (fields.literal("type") === "component") return undefined;
        return {
          snippet: joined([
            fields.text("snippet").replace(/^Abstract[.:]? /i, ""),
            namesOf(fields.raw("authors")),
            fields.text("journal"),
          ]),
          publishedAt: dateOfParts(fields.raw("date")),
        };
      },
    }),
};

function namesOf(authors: unknown): string {
  if (!Array.isArray(authors)) return "";
  const names = authors.map((author) => plain(joined([wordAt(author, "given"), wordAt(author, "family|name")], " ")));
  const shown = names.filter((name) => name !== "").slice(0, AUTHORS_MAX);
  return shown.join(", ") + (names.length > AUTHORS_MAX ? " et al." : "");
}

function wordAt(author: unknown, path: string): string | undefined {
  const word = valueAt(author, path);
  return typeof word === "string" ? word : undefined;
}
