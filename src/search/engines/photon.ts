// Places of OpenStreetMap, by Photon.

import { entryOf } from "../../base/json-object.ts";
import { address, jsonHeaders, pageSize, primaryLanguage } from "../address.ts";
import type { SearchEngine } from "../engine.ts";
import { type ItemFields, readJsonAnswer } from "../reading/json.ts";
import { joined } from "../reading/text.ts";

const LANGUAGES = ["de", "en", "fr", "it"];
const TYPES: Readonly<Record<string, string>> = { N: "node", W: "way", R: "relation" };

export const photon: SearchEngine = {
  name: "photon",
  categories: ["map"],
  weight: 0.9,
  about: { website: "https://photon.komoot.io", official: true },
  enabledByDefault: true,
  network: "photon",
  requestRate: { requests: 1, perMs: 1000 },
  timeoutMs: 8000,
  languages: LANGUAGES,
  safeSearch: true,
  selectors: {
    results: "features",
    title: "properties.name",
    osm_type: "properties.osm_type",
    osm_id: "properties.osm_id",
    key: "properties.osm_key",
    value: "properties.osm_value",
    street: "properties.street",
    house: "properties.housenumber",
    city: "properties.city|properties.county",
    state: "properties.state",
    country: "properties.country",
    latitude: "geometry.coordinates.1",
    longitude: "geometry.coordinates.0",
  },
  request(context) {
    const language = primaryLanguage(context) ?? "";
    const url = address(context, "https://photon.komoot.io", "/api/", {
      q: context.query.text,
      limit: pageSize(context, 20),
      lang: LANGUAGES.includes(language) ? language : undefined,
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: photon,
      draft(fields) {
        const [type, id] = [entryOf(TYPES, fields.literal("osm_type")), fields.literal("osm_id")];
        if (type === undefined || !/^\d+$/.test(id)) return undefined;
        const street = joined([fields.literal("street"), fields.literal("house")], " ");
        return {
          url: `https://www.openstreetmap.org/${type}/${id}`,
          title: fields.literal("title") || street,
          snippet: describe(fields, street),
        };
      },
    }),
};

function describe(fields: ItemFields, street: string): string {
  const where = [street, fields.literal("city"), fields.literal("state"), fields.literal("country")];
  return joined([
    joined(where, ", "),
    joined([fields.literal("key"), fields.literal("value")], " "),
    joined([fields.literal("latitude"), fields.literal("longitude")], ", "),
  ]);
}
