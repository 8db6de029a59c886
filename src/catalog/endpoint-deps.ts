// What the catalog's endpoints need from the rest of the program.

import type { AtOnce } from "../base/at-once.ts";
import type { TierId } from "../config/schema.ts";
import type { BodyLimits } from "../http/body.ts";
import { endpointsBehind } from "../http/served-endpoint.ts";
import type { Catalog } from "./models.ts";
import type { ModelAccess } from "./resolve.ts";
import type { TierGrant } from "./tiers.ts";

/** What the endpoints need. */
export interface CatalogDeps {
  /** Throws `ApiError` 401 if the request has no valid key. */
  authenticate(request: Request): AtOnce<ModelAccess>;
  /** The current catalog. */
  catalog(): Catalog;
  bodyLimits(): BodyLimits;
  tiers(): Readonly<Record<TierId, TierGrant>>;
}

/** An endpoint for callers with a key. */
export const keyed = endpointsBehind("key", (deps: CatalogDeps, request) => deps.authenticate(request));
