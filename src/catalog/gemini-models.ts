// The lists of models in the form of Gemini's API.

import { lazily } from "../base/lazily.ts";
import { describedBy, type ServedEndpoint } from "../http/served-endpoint.ts";
import { type CatalogDeps, keyed } from "./endpoint-deps.ts";
import { keyMayUse } from "./key-models.ts";
import { idFromUrl } from "./model-address.ts";
import { requireVisibleModel } from "./resolve.ts";

const views = lazily(() => {
  const { geminiList, geminiModel }: typeof import("./gemini-views.ts") = require("./gemini-views.ts");
  return { geminiList, geminiModel };
});
const text = describedBy(() => {
  const { GEMINI_TEXTS }: typeof import("./gemini-texts.ts") = require("./gemini-texts.ts");
  return GEMINI_TEXTS;
});

/** The endpoints. */
export const GEMINI_MODEL_ENDPOINTS: readonly ServedEndpoint<CatalogDeps>[] = [
  keyed("GET", "/v1beta/models", {
    describe: text("listGeminiModels"),
    handle: (deps, { caller }) =>
      Response.json(views().geminiList(deps.catalog().models.filter((model) => keyMayUse(caller.models, model)))),
  }),
  keyed("GET", "/v1beta/models/*", {
    describe: text("getGeminiModel"),
    handle: (deps, { request, caller }) => {
      const id = idFromUrl(request.url, "/v1beta/models/");
      return Response.json(views().geminiModel(requireVisibleModel(deps.catalog(), id, caller)));
    },
  }),
];
