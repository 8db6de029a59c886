// Builds Firecrawl's endpoints in a running gateway.

import type { Clock } from "../../base/clock.ts";
import type { Config } from "../../config/schema.ts";
import type { FindWebModel } from "../../gateway/web-model.ts";
import type { Validator } from "../extract/validate.ts";
import type { SinglePageDeps } from "../single-page.ts";
import { createPageCache } from "./page-cache.ts";
import type { FirecrawlPageDeps } from "./scrape.ts";

/** What it is built from. */
export interface FirecrawlDeps {
  config(): Config;
  readonly clock: Clock;
  readonly findModel: FindWebModel;
  readonly tools: SinglePageDeps;
  readonly validator: Pick<Validator, "validate">;
}

/** What single pages need. */
export function firecrawlPages({ config, clock, findModel, tools, validator }: FirecrawlDeps): FirecrawlPageDeps {
  return {
    pages: tools,
    cache: createPageCache(() => config().web.cache, clock),
    reading: { findModel, validator },
    rules: () => ({ allowsScript: config().web.actionsScript }),
  };
}
