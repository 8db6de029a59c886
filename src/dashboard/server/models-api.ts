// The whole catalog for operators, including hidden models: plans, prices, and routes with the state of their
// providers.

import type { CatalogModel } from "../../catalog/models.ts";
import type { AdminModelView, Listing } from "../contract.ts";
import { admin, type Endpoint } from "./endpoint.ts";
import type { GatewayApiDeps } from "./gateway-api.ts";

/** The endpoint of the catalog. */
export function modelsApi({ gateway }: Pick<GatewayApiDeps, "gateway">): Endpoint[] {
  return [
    admin("GET", "/admin/models", async (): Promise<Listing<AdminModelView>> => {
      const breakers = gateway.breakers();
      const health = new Map(gateway.modelHealth().models.map((model) => [model.id, model.status]));
      const view = (model: CatalogModel): AdminModelView => ({
        id: model.id,
        name: model.name,
        owned_by: model.ownedBy,
        aliases: model.aliases,
        tier: model.tier,
        listed: model.visibility === "list",
        status: health.get(model.id) ?? null,
        context_length: model.known.contextLength ? model.contextLength : null,
        max_output_tokens: model.known.maxOutputTokens ? model.maxOutputTokens : null,
        capabilities: capabilitiesOf(model),
        prices:
          model.prices === undefined
            ? null
            : {
                input: model.prices.input,
                output: model.prices.output,
                cache_read: model.prices.cacheRead ?? null,
                varies: (model.prices.tiers ?? []).length > 0,
              },
        routes: model.routes.map((route) => ({ ...route, breaker: breakers.get(route.provider)?.state ?? null })),
      });
      return { data: gateway.catalog().map(view) };
    }),
  ];
}

function capabilitiesOf({ kind, supportsTools, supportsVision, supportsReasoning }: CatalogModel): string[] {
  return [
    ...(kind === "chat" ? [] : [kind]),
    ...(supportsTools ? ["tools"] : []),
    ...(supportsVision ? ["vision"] : []),
    ...(supportsReasoning ? ["reasoning"] : []),
  ];
}
