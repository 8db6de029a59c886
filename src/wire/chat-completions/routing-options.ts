// Reads OpenRouter's routing members of a chat completion: fallback models, and which providers to use.

import { ApiError } from "../../base/errors.ts";
import type { RoutingOptions } from "../format.ts";

/** Maximum number of models; OpenRouter's own limit is three. */
export const MODELS_MAX = 10;
/** Maximum number of names of providers in a list. */
export const NAMES_MAX = 50;

/** The members of `provider` that are supported; others are reported as dropped. */
const HONOURED: ReadonlySet<string> = new Set(["order", "only", "allow_fallbacks"]);

/** Reads the routing options of a body; undefined for nearly all bodies. Throws 400 that names the member. */
export function routingOptions(body: Readonly<Record<string, unknown>>): RoutingOptions | undefined {
  const { models, provider } = body;
  return models == null && provider == null ? undefined : givenOptions(models, provider);
}

function givenOptions(models: unknown, provider: unknown): RoutingOptions {
  const fallbacks = names(models, "models", MODELS_MAX);
  if (provider == null) return { models: fallbacks, dropped: [] };
  // Other clients use the member with other forms; only OpenRouter's is read here.
  if (typeof provider !== "object" || Array.isArray(provider)) refuse("provider", "an object");
  const { order, only, allow_fallbacks: allowed } = provider as Record<string, unknown>;
  if (allowed != null && typeof allowed !== "boolean") refuse("provider.allow_fallbacks", "true or false");
  const dropped = Object.keys(provider)
    .filter((key) => !HONOURED.has(key))
    .map((key) => `provider.${key}`);
  return {
    models: fallbacks,
    dropped,
    providers: {
      order: names(order, "provider.order", NAMES_MAX),
      only: only == null ? undefined : names(only, "provider.only", NAMES_MAX),
      mayFallBack: allowed !== false,
    },
  };
}

function names(value: unknown, param: string, max: number): readonly string[] {
  if (value == null) return [];
  if (!Array.isArray(value) || value.length > max || !value.every((name) => typeof name === "string" && name !== "")) {
    refuse(param, `a list of at most ${max} names`);
  }
  return value as string[];
}

function refuse(param: string, expected: string): never {
  throw new ApiError("invalid_request", `'${param}' must be ${expected}.`, { param });
}
