// What an operator sees of the decision models, and does with them.

import { ApiError } from "../../base/errors.ts";
import type { DecisionStore } from "../../store/decisions/decisions.ts";
import type { DecisionModels } from "./models.ts";
import { decisionOverview, type ShownVersion } from "./overview.ts";
import { inputPriceOf, type PriceDeps } from "./prices.ts";
import { type Promotion, PromotionRefused, promoteVersion } from "./promote.ts";
import type { DecisionWatch } from "./watch.ts";

/** Moves an alias and returns its previous target. Throws `ApiError` 400 if the version was measured as worse. */
export async function promote(
  deps: { models: DecisionModels; store: DecisionStore },
  promotion: Promotion,
): Promise<{ before: string | null }> {
  try {
    const moved = await promoteVersion(deps, promotion);
    await deps.models.load();
    return moved;
  } catch (error) {
    if (!(error instanceof PromotionRefused)) throw error;
    const message = `${error.message.slice(0, 1).toUpperCase()}${error.message.slice(1)}.`;
    if (error.reason === "no_version") throw new ApiError("model_not_found", message, { param: "version" });
    throw new ApiError("invalid_request", message, { param: error.reason === "worse" ? "version" : "alias" });
  }
}

/** The data for the operator's page. */
export async function overview(
  store: DecisionStore,
  { models, watch, prices }: { models: DecisionModels; watch: DecisionWatch; prices: PriceDeps },
): Promise<ShownVersion[]> {
  const [snapshot, sightings, health] = await Promise.all([models.current(), store.listSightings(), watch.health()]);
  const versions = new Map([...snapshot.versions].filter(([, { embedded }]) => embedded !== true));
  return decisionOverview(
    { ...snapshot, versions },
    { sightings, health, priceOf: (version) => inputPriceOf(version, prices) },
  );
}
