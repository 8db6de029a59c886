// The catalog. Members see the listed models with their public health status. Operators see all models, including
// hidden ones, with their routes and the states of the providers' breakers.

import { asShown, type CatalogModel } from "../../catalog/models.ts";
import { isTierId, tierIncludes } from "../../catalog/tiers.ts";
import { usedModels, usedSpan, usedUnpriced } from "../../catalog/unpriced.ts";
import { dayOf } from "../../store/usage/record.ts";
import type { BreakerState } from "../../upstream/breaker.ts";
import type { ProviderSnapshot } from "../../upstream/breakers.ts";
import type { AdminModelView, Listing, MemberModelView } from "../contract.ts";
import { admin, type Endpoint, member } from "./endpoint.ts";
import type { GatewayApiDeps } from "./gateway-api.ts";

/** The endpoints. */
export function modelsApi({ gateway, usage, clock }: GatewayApiDeps): Endpoint[] {
  const health = () => new Map(gateway.modelHealth().models.map(({ id, status }) => [id, status]));
  return [
    member("GET", "/catalog", async ({ who: { account } }): Promise<Listing<MemberModelView>> => {
      const statuses = health();
      const view = (model: CatalogModel): MemberModelView => ({
        id: model.id,
        name: model.name,
        owned_by: model.ownedBy,
        description: model.description,
        aliases: model.aliases,
        kind: model.kind,
        abilities: abilitiesOf(model),
        tier: model.tier,
        usable: isTierId(account.tier) && tierIncludes(account.tier, model.tier),
        status: statuses.get(model.id) ?? null,
        context_length: shownLimit(model, "contextLength"),
        prices: pricesOf(model),
      });
      const listed = gateway.catalog().filter(({ visibility }) => visibility === "list");
      return { data: listed.map(view) };
    }),
    admin("GET", "/admin/models", async (): Promise<Listing<AdminModelView>> => {
      const breakers = gateway.breakers();
      const used = usedModels(await usage.sumsBySlot(usedSpan(dayOf(clock.now())), "model"));
      const unpriced = new Set(usedUnpriced(gateway.catalog(), gateway.providers(), used));
      const statuses = health();
      const view = (model: CatalogModel): AdminModelView => ({
        id: model.id,
        name: model.name,
        owned_by: model.ownedBy,
        aliases: model.aliases,
        tier: model.tier,
        listed: model.visibility === "list",
        status: statuses.get(model.id) ?? null,
        context_length: shownLimit(model, "contextLength"),
        max_output_tokens: shownLimit(model, "maxOutputTokens"),
        inferred: Object.keys(model.inferred).length > 0,
        used_unpriced: unpriced.has(model.id),
        capabilities: capabilitiesOf(model),
        prices:
          model.prices === undefined
            ? null
            : {
                input: model.prices.input,
                output: model.prices.output ?? 0,
                cache_read: model.prices.cacheRead ?? null,
                varies: (model.prices.tiers ?? []).length > 0,
              },
        routes: model.routes.map((route) => ({
          ...route,
          breaker: stateOf(breakers.get(route.provider), route.model),
        })),
      });
      return { data: gateway.catalog().map(view) };
    }),
  ];
}

/** The state of a route: of its model, where the models of the provider differ. */
function stateOf(breaker: ProviderSnapshot | undefined, model: string): BreakerState | null {
  if (breaker === undefined) return null;
  return breaker.models.size === 0 ? breaker.state : (breaker.models.get(model)?.state ?? "closed");
}

function capabilitiesOf(model: CatalogModel): string[] {
  return [...(model.kind === "chat" ? [] : [model.kind]), ...abilitiesOf(model)];
}

/** A limit that is known or inferred; null otherwise. */
export function shownLimit(model: CatalogModel, name: "contextLength" | "maxOutputTokens"): number | null {
  return model.known[name] ? model[name] : (model.inferred[name] ?? null);
}

function abilitiesOf(model: CatalogModel): string[] {
  const { supportsTools, supportsVision, supportsReasoning } = asShown(model);
  return [
    ...(supportsTools ? ["tools"] : []),
    ...(supportsVision ? ["vision"] : []),
    ...(supportsReasoning ? ["reasoning"] : []),
  ];
}

function pricesOf({ prices }: CatalogModel): MemberModelView["prices"] {
  if (prices === undefined) return null;
  return { input: prices.input, output: prices.output ?? 0, varies: (prices.tiers ?? []).length > 0 };
}
