// Models on Hugging Face.

import { address, jsonHeaders, pageSize } from "../address.ts";
import type { SearchEngine } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";
import { counted, joined } from "../reading/text.ts";

export const huggingFace: SearchEngine = {
  name: "hugging-face",
  categories: ["it"],
  weight: 0.7,
  about: { website: "https://huggingface.co", official: true },
  enabledByDefault: true,
  optionalKey: { looksLike: "an access token" },
  network: "hugging-face",
  timeoutMs: 6000,
  selectors: {
    results: "$",
    title: "id|modelId",
    snippet: "description",
    date: "createdAt|lastModified",
    task: "pipeline_tag",
    library: "library_name",
    downloads: "downloads",
    likes: "likes",
  },
  request(context) {
    const { apiKey } = context.settings;
    const url = address(context, "https://huggingface.co", "/api/models", {
      search: context.query.text,
      limit: pageSize(context, 20),
      sort: "downloads",
      direction: "-1",
    });
    const headers = jsonHeaders(context, apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` });
    return { method: "GET", url, headers };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: huggingFace,
      draft(fields) {
        const id = fields.literal("title");
        if (!/^[\w.-]+(?:\/[\w.-]+)?$/.test(id)) return undefined;
        return {
          url: `https://huggingface.co/${id}`,
          snippet: joined([
            fields.literal("snippet"),
            fields.literal("task"),
            fields.literal("library"),
            counted(fields.literal("downloads"), "download"),
            counted(fields.literal("likes"), "like"),
          ]),
        };
      },
    }),
};
