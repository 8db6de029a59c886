// Reads vendors' model lists as their files describe them: `{data:[…]}`, `{models:[…]}` or a plain list of objects with an id.
// Other entries are skipped; a body that is not a list throws.

import { isRecord } from "../../base/json-object.ts";
import { kindByName, type ListedKind, MODEL_KINDS } from "../../vendors/model-kind.ts";
import type { DiscoveredModel, ListedFact, ListedPrices, MemberPath, ModelList } from "../../vendors/vendor.ts";
import { UpstreamFault } from "../fault.ts";

/**
 * The format of lists of unknown servers: the common names of the context window, the members of OpenRouter's entries, which
 * other routers have too, and LiteLLM's second list (docs.litellm.ai/docs/proxy/model_management).
 */
export const USUAL_LIST = {
  path: "/models",
  id: ["id", "name"],
  facts: {
    name: "name",
    contextLength: ["context_length", "context_window", "max_model_len"],
    maxOutputTokens: "top_provider.max_completion_tokens",
    supportsTools: { member: "supported_parameters", word: "tools" },
    supportsVision: { member: "architecture.input_modalities", word: "image" },
    supportsReasoning: { member: "supported_parameters", word: "reasoning" },
  },
  kinds: {
    chat: { member: "architecture.output_modalities", word: "text" },
    image: { member: "architecture.output_modalities", word: "image" },
    embedding: { member: "architecture.output_modalities", word: "embeddings" },
  },
  pricing: true,
  details: {
    path: "/model/info",
    list: {
      id: "model_name",
      facts: {
        contextLength: "model_info.max_input_tokens",
        maxOutputTokens: "model_info.max_output_tokens",
        supportsTools: "model_info.supports_function_calling",
        supportsVision: "model_info.supports_vision",
        supportsReasoning: "model_info.supports_reasoning",
      },
      pricing: true,
    },
  },
} satisfies ModelList;

/** The models of a list. */
export function readModels(body: unknown, list: Omit<ModelList, "path">): DiscoveredModel[] {
  const entries = isEntry(body) ? (body[list.list ?? "data"] ?? body["data"] ?? body["models"]) : body;
  if (!Array.isArray(entries)) {
    throw new UpstreamFault("unavailable", "The provider's model list cannot be read.", { status: 200 });
  }
  return entries.flatMap((entry: unknown) => (isEntry(entry) ? (readModel(entry, list) ?? []) : []));
}

/** One entry of a list. */
type Entry = Readonly<Record<string, unknown>>;

function readModel(entry: Entry, list: Omit<ModelList, "path">): DiscoveredModel | undefined {
  const id = idOf(entry, list);
  if (id === undefined || (list.active !== undefined && truth(find(entry, list.active)) === false)) return undefined;
  const { facts = {} } = list;
  const said = Object.keys(facts).map((fact) => [fact, factOf(entry, fact as ListedFact, facts[fact as ListedFact])]);
  const kind = kindOf(entry, id, list);
  const prices = list.pricing === true ? pricesOf(entry) : undefined;
  const known = [
    ["createdSeconds", createdSeconds(entry)],
    ...said,
    ["prices", prices],
    ["kind", kind === "chat" ? undefined : kind],
  ];
  // A name that equals the id is left out.
  const kept = known.filter(([key, value]) => value !== undefined && !(key === "name" && value === id));
  return { id, ...Object.fromEntries(kept) } as DiscoveredModel;
}

function idOf(entry: Entry, { id: place = "id", idPrefix = "" }: Omit<ModelList, "path">): string | undefined {
  const id = text(find(entry, place));
  return id?.startsWith(idPrefix) === true ? text(id.slice(idPrefix.length)) : id;
}

/** How each fact is read, if it has an accepted form. */
const READ: Readonly<Record<ListedFact, (value: unknown) => unknown>> = {
  name: text,
  description: text,
  contextLength: count,
  maxOutputTokens: count,
  supportsTools: truth,
  supportsVision: truth,
  supportsReasoning: truth,
};

function factOf(entry: Entry, fact: ListedFact, place: MemberPath | undefined): unknown {
  if (place === undefined) return undefined;
  for (const one of typeof place === "string" || "member" in place ? [place] : place) {
    const value = READ[fact](find(entry, one));
    if (value !== undefined) return value;
  }
  return undefined;
}

const MILLION = 1_000_000;

/**
 * The prices in an entry: OpenRouter's `pricing`, or LiteLLM's costs. Zero for input and output means that no price is known, as
 * routers write it, too.
 */
function pricesOf(entry: Entry): ListedPrices | undefined {
  const of = (...places: readonly string[]) =>
    dollars(places.map((place) => find(entry, place)).find((v) => v != null));
  const input = of("pricing.prompt", "model_info.input_cost_per_token");
  const output = of("pricing.completion", "model_info.output_cost_per_token");
  if (input === undefined || output === undefined || input + output === 0) return undefined;
  const cacheRead = of("pricing.input_cache_read", "model_info.cache_read_input_token_cost");
  const cacheWrite = of("pricing.input_cache_write", "model_info.cache_creation_input_token_cost");
  return {
    input,
    output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  };
}

/** The highest price that is believed, in dollars per million tokens. */
const PRICE_MAX = 1_000_000;

/** A price per token as one per million, without the noise of the multiplication. */
function dollars(value: unknown): number | undefined {
  const perToken = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof perToken !== "number" || !(perToken >= 0)) return undefined;
  const perMillion = Number((perToken * MILLION).toPrecision(12));
  return perMillion <= PRICE_MAX ? perMillion : undefined;
}

/** The kind that the list states. If it states none, or only which kinds it is not, the kind that follows from the name. */
function kindOf(entry: Entry, id: string, { kinds = {} }: Omit<ModelList, "path">): ListedKind | undefined {
  let refused = false;
  for (const kind of MODEL_KINDS) {
    const place = kinds[kind];
    const said = place === undefined ? undefined : truth(find(entry, place));
    if (said === true) return kind;
    if (said === false && kind === "chat") refused = true;
  }
  const named = kindByName(id);
  return named ?? (refused ? "other" : undefined);
}

/** The value at a path; of several paths, the first one that exists. */
function find(entry: Entry, place: MemberPath): unknown {
  if (typeof place === "string") {
    return place.split(".").reduce<unknown>((at, member) => (isEntry(at) ? at[member] : undefined), entry);
  }
  if ("member" in place) {
    const value = find(entry, place.member);
    if (Array.isArray(value)) return value.includes(place.word);
    return typeof value === "string" ? value === place.word : undefined;
  }
  return place.map((one) => find(entry, one)).find((value) => value !== undefined);
}

/** When the model was created. OpenAI sends seconds, Anthropic a date; some servers send 0 or the epoch if it is unknown. */
function createdSeconds({ created, created_at }: Entry): number | undefined {
  const seconds = typeof created_at === "string" ? Date.parse(created_at) / 1000 : created;
  if (typeof seconds !== "number" || !Number.isFinite(seconds)) return undefined;
  return seconds > EARLIEST_SECONDS && seconds < LATEST_SECONDS ? Math.floor(seconds) : undefined;
}

const EARLIEST_SECONDS = Date.UTC(2000, 0) / 1000;
const LATEST_SECONDS = Date.UTC(2200, 0) / 1000;

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A positive whole number. */
function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;
}

function truth(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

function isEntry(value: unknown): value is Entry {
  return isRecord(value);
}
