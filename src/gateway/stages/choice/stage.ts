// The routing options in a request: which of a model's routes may be used, and in which order. Fallback models are in
// centre/spread.ts, since each is a request of its own.

import { ApiError } from "../../../base/errors.ts";
import type { ModelRoute } from "../../../catalog/models.ts";
import type { RoutingOptions } from "../../../wire/format.ts";
import type { Stage, StageRun } from "../../centre/stage.ts";

/** The routing members of a body. They are not sent upstream. */
const ROUTING_MEMBERS = { models: undefined, provider: undefined } as const;

const RUN: StageRun = {
  prepare: ({ routes, routing, members }) =>
    routing && {
      why: "choice",
      routes: chosenRoutes(routes, routing),
      members: members && { ...members, ...ROUTING_MEMBERS },
      dropped: routing.dropped,
    },
};

/** Narrows and orders the routes as the client asks. */
export const choiceStage: Stage = { name: "choice", open: ({ routing }) => (routing === undefined ? undefined : RUN) };

/** The routes that the request allows, in its order. Names that are not providers of the model are ignored. */
function chosenRoutes(routes: readonly ModelRoute[], { providers }: RoutingOptions): readonly ModelRoute[] {
  if (providers === undefined) return routes;
  const { order, only, mayFallBack } = providers;
  const rankOf = rank(order);
  const isAllowed = only === undefined ? undefined : rank(only);
  const first = routes.filter((route) => rankOf(route) !== undefined);
  const candidates = mayFallBack || first.length === 0 ? routes : first;
  const allowed = isAllowed === undefined ? candidates : candidates.filter((route) => isAllowed(route) !== undefined);
  if (allowed.length === 0) {
    throw new ApiError("invalid_request", "None of the providers in 'provider.only' has this model.", {
      param: "provider.only",
    });
  }
  if (first.length === 0) return mayFallBack ? allowed : allowed.slice(0, 1);
  return allowed.map((route) => ({
    ...route,
    priority: rankOf(route) ?? order.length + route.priority,
    // The client's order counts, not what was measured.
    choice: undefined,
  }));
}

/** Creates a function that returns the index of a route's provider in a list of names, ignoring case. */
function rank(names: readonly string[]): (route: ModelRoute) => number | undefined {
  const places = new Map(names.map((name, at) => [name.toLowerCase(), at]));
  return ({ provider }) => places.get(provider.toLowerCase());
}
