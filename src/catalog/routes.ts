// GET /v1/models, /v1/models/{id} (including ids with slashes and percent signs), /v1/model/info and /v1/tiers. They do not
// count against the rate limit, and work for accounts whose plan has ended; a key is required.

import { describedBy, type ServedEndpoint } from "../http/served-endpoint.ts";
import { type CatalogDeps, keyed } from "./endpoint-deps.ts";
import { GEMINI_MODEL_ENDPOINTS } from "./gemini-models.ts";
import { keyMayUse } from "./key-models.ts";
import { idFromUrl } from "./model-address.ts";
import { modelInfo } from "./model-info.ts";
import type { Catalog } from "./models.ts";
import { OLLAMA_MODEL_ENDPOINTS } from "./ollama-models.ts";
import { type ModelAccess, requireVisibleModel } from "./resolve.ts";
import { tiersView } from "./tiers.ts";
import { modelListView, modelView, type ViewOptions } from "./view.ts";

const MODEL_PATH = "/v1/models/";

const catalogText = describedBy(() => {
  const { CATALOG_TEXTS }: typeof import("./openapi.ts") = require("./openapi.ts");
  return CATALOG_TEXTS;
});

/** The catalog's endpoints. */
export const CATALOG_ENDPOINTS: readonly ServedEndpoint<CatalogDeps>[] = [
  keyed("GET", "/v1/models", {
    handle: (deps, { request, caller }) =>
      Response.json(modelListView(allowed(deps.catalog(), caller), viewOptions(request))),
    describe: catalogText("listModels"),
  }),
  keyed("GET", "/v1/models/*", {
    handle: (deps, { request, caller }) => {
      const model = requireVisibleModel(deps.catalog(), idFromUrl(request.url, MODEL_PATH), caller);
      return Response.json(modelView(model, viewOptions(request)));
    },
    describe: catalogText("getModel"),
  }),
  keyed("GET", "/v1/model/info", {
    handle: (deps, { caller }) => Response.json(modelInfo(allowed(deps.catalog(), caller))),
    describe: catalogText("listModelInfo"),
  }),
  keyed("GET", "/v1/tiers", {
    handle: (deps, { caller }) => {
      const listed = allowed(deps.catalog(), caller).filter((model) => model.visibility === "list");
      return Response.json(tiersView(deps.tiers(), listed, caller.tier));
    },
    describe: catalogText("listTiers"),
  }),
  ...OLLAMA_MODEL_ENDPOINTS,
  ...GEMINI_MODEL_ENDPOINTS,
];

/** The models that the key may use. */
function allowed({ models }: Catalog, caller: ModelAccess): Catalog["models"] {
  return caller.models == null ? models : models.filter((model) => keyMayUse(caller.models, model));
}

function viewOptions({ headers }: Request): ViewOptions {
  return { anthropic: headers.get("anthropic-version") !== null };
}
