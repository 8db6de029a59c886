// Resolves a client's model id to a model and its allowed routes: exact, then ignoring case, then alias, then
// `<owned_by>/<id>` or `<provider key>/<id>` with only that provider's routes
// (docs/reference/http-api.md#get-v1modelsmodel_id).

import { ApiError } from "../base/errors.ts";
import type { TierId } from "../config/schema.ts";
import type { ModelKind } from "../vendors/model-kind.ts";
import { type CallerModels, keyMayUse, type ModelNames } from "./key-models.ts";
import { KINDS } from "./kinds.ts";
import type { Catalog, CatalogModel, NameIndex, ResolvedModel } from "./models.ts";
import { tierIncludes } from "./tiers.ts";

/**
 * Finds the model with this id; undefined if there is none. `NAME:latest` is `NAME` too, since Ollama's clients add the tag to names
 * without one. Does not check permissions.
 */
export function resolveModel(catalog: Catalog, id: string): ResolvedModel | undefined {
  const found = named(catalog, id);
  if (found !== undefined || id.slice(-LATEST.length).toLowerCase() !== LATEST) return found;
  // Only one tag is taken off: an id may consist of many.
  return named(catalog, id.slice(0, -LATEST.length));
}

const LATEST = ":latest";

function named(catalog: Catalog, id: string): ResolvedModel | undefined {
  const lower = id.toLowerCase();
  return lookUp(catalog.plain, id, lower) ?? lookUp(catalog.prefixed, id, lower);
}

/** What determines which models a caller sees and may use. */
export interface ModelAccess {
  readonly tier: TierId;
  /** Absent: the key has no limit. */
  readonly models?: CallerModels;
}

/** The caller, and the access to decision models. */
export interface ModelUse extends ModelAccess {
  /** Whether it is an id or alias of a decision model, which has its own endpoint. */
  readonly isDecisionModel: (id: string) => boolean;
  /** The kinds that the endpoint accepts; absent: chat models. */
  readonly kind?: ModelKind;
}

/**
 * The model for a caller. Throws 404 for unknown ids, for models that the key may not use and for hidden models above the
 * caller's plan, 400 for models of another kind and decision models, 403 for listed models above the plan.
 */
export function requireModel(catalog: Catalog, id: string, use: ModelUse): ResolvedModel {
  const found = resolveModel(catalog, id);
  if (found === undefined) {
    if (use.isDecisionModel(id)) {
      throw new ApiError(
        "wrong_model_family",
        `${quoted(id)} is a decision model. Send it to POST /v1/systemone instead.`,
        { param: "model", asked: id },
      );
    }
    throw modelNotFound(id);
  }
  const { model } = found;
  if (!keyMayUse(use.models, model)) throw keyMayNotUse(id, use.models, model);
  if (!tierIncludes(use.tier, model.tier)) {
    if (model.visibility !== "list") throw modelNotFound(id);
    throw new ApiError(
      "tier_required",
      `The model ${quoted(model.id)} requires the ${model.tier} plan; your plan is ${use.tier}.`,
      { param: "model", asked: id },
    );
  }
  if (model.kind !== (use.kind ?? "chat")) throw wrongKind(model);
  return found;
}

function wrongKind({ id, kind }: CatalogModel): ApiError {
  const { called, endpoints } = KINDS[kind];
  const [endpoint] = endpoints;
  const instead =
    endpoint === undefined ? "No endpoint of this gateway accepts it." : `Send it to POST ${endpoint} instead.`;
  return new ApiError("wrong_model_family", `${quoted(id)} is ${called} model. ${instead}`, {
    param: "model",
    asked: id,
  });
}

/** The model as the catalog endpoint may show it to a caller: listed ones always, hidden ones within the plan. */
export function requireVisibleModel(catalog: Catalog, id: string, { tier, models }: ModelAccess): CatalogModel {
  const found = resolveModel(catalog, id);
  if (found === undefined) throw modelNotFound(id);
  if (found.model.visibility !== "list" && !tierIncludes(tier, found.model.tier)) throw modelNotFound(id);
  if (!keyMayUse(models, found.model)) throw keyMayNotUse(id, models, found.model);
  return found.model;
}

/** The 404 `model_not_found` for an existing model that the key or its project may not use. */
export function keyMayNotUse(id: string, models: CallerModels | undefined, model: ModelNames): ApiError {
  const isOfProject = models != null && "project" in models && keyMayUse(models.key, model);
  const [who, where] = isOfProject ? ["the project of this key", "models"] : ["this key", "key"];
  return new ApiError(
    "model_not_found",
    `The model ${quoted(id)} is not among those that ${who} may use; GET /v1/${where} names them.`,
    { param: "model", asked: id },
  );
}

/** The 404 `model_not_found`. */
export function modelNotFound(id: string): ApiError {
  return new ApiError(
    "model_not_found",
    `The model ${quoted(id)} does not exist or is not available to you; GET /v1/models lists yours.`,
    { param: "model", asked: id },
  );
}

function lookUp(names: NameIndex, id: string, lower: string): ResolvedModel | undefined {
  return names.ids.get(id) ?? names.lowerIds.get(lower) ?? names.aliases.get(id) ?? names.lowerAliases.get(lower);
}

/** Ids come from the client: quoted, and truncated so that an error stays on one line. */
function quoted(id: string): string {
  return JSON.stringify(id.length > 100 ? `${id.slice(0, 100)}…` : id);
}
