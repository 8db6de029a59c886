// The context windows of models: from the catalog, and from providers' errors when a prompt did not fit.

import type { CatalogModel } from "../../catalog/models.ts";

/** Models whose window a provider has reported. */
const MODELS_MAX = 1000;

/** The windows. */
export class Windows {
  readonly #told = new Map<string, number>();

  /** Tokens that a model accepts; undefined if unknown. */
  of(model: Pick<CatalogModel, "id" | "contextLength" | "known">): number | undefined {
    const told = this.#told.get(model.id);
    const known = model.known.contextLength ? model.contextLength : undefined;
    if (told === undefined || known === undefined) return told ?? known;
    return Math.min(told, known);
  }

  /** A provider reported the model's limit. */
  tell(model: Pick<CatalogModel, "id">, limit: number): void {
    if (this.#told.has(model.id) || this.#told.size < MODELS_MAX) this.#told.set(model.id, limit);
  }
}
