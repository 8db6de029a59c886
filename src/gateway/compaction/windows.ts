// The windows of models: what the catalog knows of them, and what providers said when a prompt did not fit.

import type { CatalogModel } from "../../catalog/models.ts";

/** Models whose window a provider has told. */
const MODELS_MAX = 1000;

/** The windows. */
export class Windows {
  readonly #told = new Map<string, number>();

  /** Tokens that a model takes; undefined where no one said so. */
  of(model: Pick<CatalogModel, "id" | "contextLength" | "known">): number | undefined {
    const told = this.#told.get(model.id);
    const known = model.known.contextLength ? model.contextLength : undefined;
    if (told === undefined || known === undefined) return told ?? known;
    return Math.min(told, known);
  }

  /** A provider named the model's limit. */
  tell(model: Pick<CatalogModel, "id">, limit: number): void {
    if (this.#told.has(model.id) || this.#told.size < MODELS_MAX) this.#told.set(model.id, limit);
  }
}
