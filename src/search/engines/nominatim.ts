// Places of OpenStreetMap, by Nominatim. Its usage policy allows one request a second and requires a contact address.

import { address, jsonHeaders, pageSize } from "../address.ts";
import type { SearchEngine } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";
import { joined } from "../reading/text.ts";

export const nominatim: SearchEngine = {
  name: "nominatim",
  categories: ["map"],
  about: { website: "https://nominatim.org", official: true },
  enabledByDefault: true,
  network: "nominatim",
  requestRate: { requests: 1, perMs: 1000 },
  timeoutMs: 8000,
  languages: "any",
  safeSearch: true,
  selectors: {
    results: "$",
    title: "name|display_name",
    snippet: "display_name",
    kind: "category",
    type: "type",
    osm_type: "osm_type",
    osm_id: "osm_id",
    latitude: "lat",
    longitude: "lon",
  },
  request(context) {
    const url = address(context, "https://nominatim.openstreetmap.org", "/search", {
      q: context.query.text,
      format: "jsonv2",
      addressdetails: 1,
      extratags: 1,
      dedupe: 1,
      limit: pageSize(context, 20),
      "accept-language": context.query.language,
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: nominatim,
      draft(fields) {
        const [type, id] = [fields.literal("osm_type"), fields.literal("osm_id")];
        if (!/^(?:node|way|relation)$/.test(type) || !/^\d+$/.test(id)) return undefined;
        return {
          url: `https://www.openstreetmap.org/${type}/${id}`,
          snippet: joined([
            fields.literal("snippet"),
            joined([fields.literal("kind"), fields.literal("type")], " "),
            joined([fields.literal("latitude"), fields.literal("longitude")], ", "),
          ]),
        };
      },
    }),
};
