// The models in the form of Ollama's API. Sizes and digests of files are not known; what clients read of them is present.

import { isoTime } from "../base/iso-time.ts";
import { asShown, type CatalogModel } from "./models.ts";

/** The kinds of models that this protocol has. */
const SHOWN: ReadonlySet<string> = new Set(["chat", "embedding"]);

function details({ ownedBy }: CatalogModel) {
  return {
    parent_model: "",
    format: "",
    family: ownedBy,
    families: [ownedBy],
    parameter_size: "",
    quantization_level: "",
  };
}

/** The list of models. */
export function ollamaList(models: readonly CatalogModel[]) {
  return { models: models.filter(({ kind, visibility }) => visibility === "list" && SHOWN.has(kind)).map(listed) };
}

function listed(model: CatalogModel) {
  const digest = new Bun.CryptoHasher("sha256").update(model.id).digest("hex");
  return {
    ...{ name: model.id, model: model.id, modified_at: timeOf(model), size: 0, digest },
    details: details(model),
  };
}

/** One model, with what it can do. */
export function ollamaModel(given: CatalogModel) {
  const model = asShown(given);
  return {
    ...{ modelfile: "", parameters: "", template: "", license: "", modified_at: timeOf(model) },
    details: details(model),
    model_info: {
      "general.architecture": model.ownedBy,
      "general.basename": model.id,
      [`${model.ownedBy}.context_length`]: model.contextLength,
    },
    capabilities: model.kind === "embedding" ? ["embedding"] : chatCapabilities(model),
  };
}

function chatCapabilities({ supportsTools, supportsVision, supportsReasoning }: CatalogModel): string[] {
  return [
    "completion",
    ...(supportsTools ? ["tools"] : []),
    ...(supportsVision ? ["vision"] : []),
    ...(supportsReasoning ? ["thinking"] : []),
  ];
}

function timeOf({ createdSeconds }: CatalogModel): string {
  return isoTime(createdSeconds * 1000);
}
