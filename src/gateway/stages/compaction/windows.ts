// The context windows of models, as the catalog states them and as providers report them when they refuse a prompt as too long.

import type { CatalogModel } from "../../../catalog/models.ts";

/** Maximum number of models whose reported window is remembered. */
const MODELS_MAX = 1000;

/** The known context windows, by model. */
export class Windows {
  readonly #told = new Map<string, number>();

  /** The number of tokens that a model accepts; undefined if it is unknown. */
  of(model: Pick<CatalogModel, "id" | "contextLength" | "known">): number | undefined {
    const told = this.#told.get(model.id);
    const known = model.known.contextLength ? model.contextLength : undefined;
    if (told === undefined || known === undefined) return told ?? known;
    return Math.min(told, known);
  }

  /** Remembers the limit that a provider reported for a model. */
  tell(model: Pick<CatalogModel, "id">, limit: number): void {
    if (this.#told.has(model.id) || this.#told.size < MODELS_MAX) this.#told.set(model.id, limit);
  }
}
