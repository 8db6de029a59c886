// Wikidata: entities by name, in the searcher's language.

import { address, jsonHeaders, offset, pageSize, primaryLanguage } from "../address.ts";
import type { SearchEngine } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";
import { mediaWikiFailure } from "../reading/mediawiki.ts";

export const wikidata: SearchEngine = {
  name: "wikidata",
  categories: ["general"],
  weight: 0.7,
  about: { website: "https://www.wikidata.org", official: true },
  enabledByDefault: true,
  network: "wikimedia",
  timeoutMs: 5000,
  pagesMax: 5,
  languages: "any",
  safeSearch: true,
  selectors: { results: "search", id: "id", title: "label|display.label.value", snippet: "description" },
  request(context) {
    const size = pageSize(context, 20);
    const language = primaryLanguage(context) ?? "en";
    const url = address(context, "https://www.wikidata.org", "/w/api.php", {
      action: "wbsearchentities",
      search: context.query.text,
      language,
      uselang: language,
      type: "item",
      limit: size,
      continue: offset(context, size),
      format: "json",
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: wikidata,
      failure: mediaWikiFailure,
      draft(fields) {
        const id = fields.literal("id");
        if (!/^[QPL]\d+$/.test(id)) return undefined;
        return { url: `https://www.wikidata.org/wiki/${id}`, title: fields.literal("title") || id };
      },
    }),
};
