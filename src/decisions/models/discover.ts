// Fetches providers' lists of decision models, so that a key alone is enough to start. This is only done if the configuration
// names no decision model.

import { isRecord } from "../../base/json-object.ts";
import { withKey } from "../../upstream/ask.ts";
import { UpstreamFault } from "../../upstream/fault.ts";
import type { Provider } from "../../upstream/provider.ts";
import { readAnswer } from "../../upstream/read-answer.ts";
import type { ListedModel } from "./versions.ts";

const EVERY_MS = 5 * 60_000;
const TIMEOUT_MS = 10_000;
/** The path of a list of decision models only, if a server has one; its common list then names its chat models. */
const OWN_LIST = "/systemone/models";
const COMMON_LIST = "/models";
/** A longer list is not a list of decision models. */
const MODELS_MAX = 1000;

export interface DecisionDiscoveryDeps {
  /** The providers to ask, with the plan of their models; empty if the configuration names models itself. */
  providers(): readonly { provider: Provider; tier: string }[];
  now(): number;
  /** Called when the lists have changed. */
  changed(): void;
  failed(provider: string, error: unknown): void;
}

/** The lists of providers, fetched every few minutes. */
export class DecisionDiscovery {
  readonly #deps: DecisionDiscoveryDeps;
  #lists = new Map<string, readonly ListedModel[]>();
  /** The number of refreshes, and the latest one that was applied, so that a slow refresh does not undo a newer one. */
  #begun = 0;
  #taken = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #stopped = new AbortController();

  constructor(deps: DecisionDiscoveryDeps) {
    this.#deps = deps;
  }

  /** The models that were listed last, in the order of the providers. */
  models(): readonly ListedModel[] {
    return [...this.#lists.values()].flat();
  }

  /** Fetches the lists now and at intervals. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.refresh(), EVERY_MS);
    await this.refresh();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#stopped.abort(new UpstreamFault("timeout", "The gateway is stopping."));
  }

  /** Fetches every provider's list once. If a list cannot be fetched, the previous one stays. */
  async refresh(): Promise<void> {
    const turn = ++this.#begun;
    const asked = this.#deps.providers();
    const lists = await Promise.all(
      asked.map(async ({ provider, tier }): Promise<[string, readonly ListedModel[]]> => {
        try {
          const names = await this.#ask(provider);
          return [provider.name, names.map((model) => ({ provider: provider.name, model, tier }))];
        } catch (error) {
          if (!this.#stopped.signal.aborted) this.#deps.failed(provider.name, error);
          return [provider.name, this.#lists.get(provider.name) ?? []];
        }
      }),
    );
    if (this.#stopped.signal.aborted || turn < this.#taken) return;
    this.#taken = turn;
    const before = JSON.stringify(this.models());
    this.#lists = new Map(lists);
    if (JSON.stringify(this.models()) !== before) this.#deps.changed();
  }

  async #ask(provider: Provider): Promise<string[]> {
    try {
      return await this.#list(provider, OWN_LIST);
    } catch {
      // Most servers only have the common list. If both fail, its error is reported.
      return this.#list(provider, COMMON_LIST);
    }
  }

  async #list(provider: Provider, path: string): Promise<string[]> {
    const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await withKey(provider, this.#deps, (secret) =>
      provider.transport(provider.baseUrl + path, {
        headers: { ...provider.card.headers(secret), ...provider.extraHeaders },
        signal,
        // A redirect would send the credential to another server.
        redirect: "manual",
      }),
    );
    const text = await readAnswer(provider, response, signal);
    if (!response.ok) throw new UpstreamFault("unavailable", `The list answered with status ${response.status}.`);
    return readModelList(JSON.parse(text));
  }
}

/**
 * The ids in a list of any common format: `{models:[{name}]}`, `{data:[{id}]}`, or both; either may state the kind of a model.
 * Throws if the body is not a list.
 */
export function readModelList(body: unknown): string[] {
  const lists = isRecord(body)
    ? [body["models"], body["data"]].filter((list) => list !== undefined && list !== null)
    : [body];
  if (lists.length === 0 || !lists.every((list) => Array.isArray(list) && list.length <= MODELS_MAX)) {
    throw new Error("The model list cannot be read.");
  }
  const entries = lists.flat() as unknown[];
  const others = new Set(entries.filter((entry) => isRecord(entry) && !mayDecide(entry)).map(nameOf));
  const names = entries.map(nameOf).filter((name) => name !== "" && !others.has(name));
  return [...new Set(names)];
}

function nameOf(entry: unknown): string {
  const name = isRecord(entry) ? (entry["name"] ?? entry["id"]) : entry;
  return typeof name === "string" ? name : "";
}

/** False for models that are listed as another kind, since some servers list their chat models too. */
function mayDecide(entry: Readonly<Record<string, unknown>>): boolean {
  const { architecture } = entry;
  const gives = entry["output_modalities"] ?? (isRecord(architecture) ? architecture["output_modalities"] : undefined);
  return !Array.isArray(gives) || gives.includes("decisions");
}
