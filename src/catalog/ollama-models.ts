// The lists of models in the form of Ollama's API, by which editors and chat programs find what they can use. Sizes and digests
// of files are not known; what clients read of them is present.

import { ApiError } from "../base/errors.ts";
import { lazily } from "../base/lazily.ts";
import { readJsonBody } from "../http/body.ts";
import { describedBy, openEndpoint, type ServedEndpoint } from "../http/served-endpoint.ts";
import { type CatalogDeps, keyed } from "./endpoint-deps.ts";
import { keyMayUse } from "./key-models.ts";
import { requireVisibleModel } from "./resolve.ts";

/** The version of Ollama's API that is told: clients refuse older ones. */
const API_VERSION = "0.12.6";

const views = lazily(() => {
  const { ollamaList, ollamaModel }: typeof import("./ollama-views.ts") = require("./ollama-views.ts");
  return { ollamaList, ollamaModel };
});
const text = describedBy(() => {
  const { OLLAMA_TEXTS }: typeof import("./ollama-texts.ts") = require("./ollama-texts.ts");
  return OLLAMA_TEXTS;
});

/** The endpoints. */
export const OLLAMA_MODEL_ENDPOINTS: readonly ServedEndpoint<CatalogDeps>[] = [
  openEndpoint("GET", "/api/version", {
    describe: text("getOllamaVersion"),
    handle: () => Response.json({ version: API_VERSION }),
  }),
  keyed("GET", "/api/tags", {
    describe: text("listOllamaModels"),
    handle: (deps, { caller }) =>
      Response.json(views().ollamaList(deps.catalog().models.filter((model) => keyMayUse(caller.models, model)))),
  }),
  keyed("GET", "/api/ps", {
    describe: text("listLoadedOllamaModels"),
    handle: () => Response.json({ models: [] }),
  }),
  keyed("POST", "/api/show", {
    describe: text("showOllamaModel"),
    handle: async (deps, { request, caller }) => {
      const { body } = await readJsonBody(request, deps.bodyLimits());
      // Older clients send `name`.
      const id = body["model"] ?? body["name"];
      if (typeof id !== "string" || id === "") {
        throw new ApiError("invalid_request", "'model' must be the id of a model.", { param: "model" });
      }
      return Response.json(views().ollamaModel(requireVisibleModel(deps.catalog(), id, caller)));
    },
  }),
];
