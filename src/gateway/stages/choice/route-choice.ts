// The routing options in a request: which of a model's routes may be used and in which order, and which other models are tried if
// the first one cannot answer.

import { ApiError, type ErrorCode } from "../../../base/errors.ts";
import type { ModelRoute } from "../../../catalog/models.ts";
import type { RoutingOptions } from "../../../wire/format.ts";

/** Errors after which another model may succeed. All others are caused by the request itself, or occur before a call. */
const FALLS_BACK: ReadonlySet<ErrorCode> = new Set([
  "model_not_found",
  "context_length_exceeded",
  "provider_unavailable",
  "provider_auth_failed",
  "provider_model_missing",
  "provider_rate_limited",
  "provider_answer_invalid",
  "provider_circuit_open",
  "provider_timeout",
  "tool_arguments_invalid",
]);

/** The routing members of a body. They are not sent upstream. */
export const ROUTING_MEMBERS = { models: undefined, provider: undefined } as const;

/** A parsed JSON object. */
type Body = Record<string, unknown>;

/** The body for each of the request's models, in order; there is at least one. */
export function bodiesByModel(body: Body, { models }: RoutingOptions): readonly Body[] {
  const { models: _models, provider: _provider, ...rest } = body;
  const first = typeof body["model"] === "string" ? [body["model"]] : [];
  const ids = [...new Set([...first, ...models])];
  return ids.length === 0 ? [rest] : ids.map((model) => ({ ...rest, model }));
}

/** The highest cost of these bodies. A model that cannot be used counts as free, as it is refused when it is tried. */
export function dearest(bodies: readonly Body[], worstOf: (body: Body) => number): number {
  let most = 0;
  for (const body of bodies) {
    try {
      most = Math.max(most, worstOf(body));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return most;
}

/** Tries the bodies one after the other until one is answered. Throws the last error. */
export async function firstThatAnswers<T>(bodies: readonly Body[], ask: (body: Body) => Promise<T>): Promise<T> {
  for (const [at, body] of bodies.entries()) {
    try {
      return await ask(body);
    } catch (error) {
      const isLast = at === bodies.length - 1;
      if (isLast || !(error instanceof ApiError) || !FALLS_BACK.has(error.apiCode)) throw error;
    }
  }
  throw new Error("There is at least one body.");
}

/** The routes that the request allows, in its order. Names that are not providers of the model are ignored. */
export function chosenRoutes(routes: readonly ModelRoute[], { providers }: RoutingOptions): readonly ModelRoute[] {
  if (providers === undefined) return routes;
  const { order, only, mayFallBack } = providers;
  const rankOf = rank(order);
  const isAllowed = only === undefined ? undefined : rank(only);
  const first = routes.filter((route) => rankOf(route) !== undefined);
  const open = mayFallBack || first.length === 0 ? routes : first;
  const allowed = isAllowed === undefined ? open : open.filter((route) => isAllowed(route) !== undefined);
  if (allowed.length === 0) {
    throw new ApiError("invalid_request", "None of the providers in 'provider.only' has this model.", {
      param: "provider.only",
    });
  }
  if (first.length === 0) return mayFallBack ? allowed : allowed.slice(0, 1);
  return allowed.map((route) => ({ ...route, priority: rankOf(route) ?? order.length + route.priority }));
}

/** Creates a function that returns the index of a route's provider in a list of names, ignoring case. */
function rank(names: readonly string[]): (route: ModelRoute) => number | undefined {
  const places = new Map(names.map((name, at) => [name.toLowerCase(), at]));
  return ({ provider }) => places.get(provider.toLowerCase());
}
