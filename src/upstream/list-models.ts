// Reads a provider's model list.

import type { DiscoveredModel } from "../vendors/vendor.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";
import { readBounded } from "./read-answer.ts";

/** A larger body is not a model list. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;

interface ListOptions {
  readonly signal: AbortSignal;
  readonly nowMs: number;
}

/** The models of a provider; empty if it has no list. Throws `UpstreamFault` if it does not answer with a list. */
export async function listModels(provider: Provider, options: ListOptions): Promise<DiscoveredModel[]> {
  const { card } = provider;
  if (card.embeddedModels !== undefined) return [...card.embeddedModels];
  if (card.modelsPath === undefined || card.parseModels === undefined) return [];
  const [listed, more] = await Promise.all([
    fetchList(provider, card.modelsPath, options),
    card.further === undefined ? [] : otherList(provider, card.further, options),
  ]);
  const models = [...card.parseModels(listed), ...more];
  return card.details === undefined || !models.every(saysNothing)
    ? models
    : withDetails(models, await otherList(provider, card.details, options));
}

/** Whether an entry has nothing but what its id says. */
function saysNothing({ id: _id, createdSeconds: _created, kind: _kind, ...facts }: DiscoveredModel): boolean {
  return Object.keys(facts).length === 0;
}

/** The models of the second list; none if the server has no such list. */
async function otherList(
  provider: Provider,
  { path, parse }: NonNullable<Provider["card"]["details"]>,
  options: ListOptions,
): Promise<DiscoveredModel[]> {
  try {
    return parse(await fetchList(provider, path, options));
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof UpstreamFault || error instanceof SyntaxError) return [];
    throw error;
  }
}

function withDetails(models: readonly DiscoveredModel[], details: readonly DiscoveredModel[]): DiscoveredModel[] {
  const byId = new Map(details.map((model) => [model.id, model]));
  return models.map((model) => ({ ...byId.get(model.id), ...model }));
}

async function fetchList(provider: Provider, path: string, options: ListOptions): Promise<unknown> {
  const response = await answerOf(provider, path, options);
  if (!response.ok) {
    await response.body?.cancel();
    throw new UpstreamFault("unavailable", `The model list answered with status ${response.status}.`, {
      status: response.status,
    });
  }
  const limits = { bytesMax: LIST_BYTES_MAX, idleMs: provider.timeoutsMs.idle, signal: options.signal };
  const text = await readBounded(response, limits);
  return JSON.parse(text);
}

/**
 * The answer to the first credential that is not refused, else to the last one. One that is refused would otherwise be tried again
 * and again: without a list there may be no model, and no request that passes it over.
 */
async function answerOf(provider: Provider, path: string, { signal, nowMs }: ListOptions): Promise<Response> {
  const [first = "", ...others] = provider.keys.inOrder(nowMs);
  const ask = (secret: string) =>
    provider.transport(path.startsWith("/") ? provider.baseUrl + path : path, {
      headers: { ...provider.card.headers(secret), ...provider.extraHeaders },
      signal,
      redirect: "manual",
    });
  let response = await ask(first);
  for (const secret of others) {
    if (response.status !== 401 && response.status !== 403) break;
    await response.body?.cancel();
    response = await ask(secret);
  }
  return response;
}
