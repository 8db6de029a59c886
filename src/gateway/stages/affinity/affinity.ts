// Keeps a conversation on the route and credential with which it began: their prompt caches are there, and the reasoning of some
// models is bound to the account. A first turn is routed by weight, and later turns follow it. The memory is limited; a
// conversation that was forgotten is routed by weight again.

import type { CatalogModel, ModelRoute } from "../../../catalog/models.ts";
import type { ChatMessage, ChatRequest } from "../../../chat/request.ts";
import type { KeyChoice } from "../../../upstream/ask.ts";
import type { Provider } from "../../../upstream/provider.ts";

/** Maximum number of conversations that are remembered; each takes a few dozen bytes. */
const CONVERSATIONS_MAX = 50_000;

/** The route and credential of a conversation. */
interface Place {
  provider: string;
  /** The model's id at the provider. */
  model: string;
  /** The fingerprint of the credential. */
  key: number | bigint;
}

/** Where one request should be sent. */
export interface Placement {
  /** The route of the conversation's first turn. */
  readonly first: Pick<ModelRoute, "provider" | "model"> | undefined;
  /** Chooses one of a route's credentials, and remembers it if it works. */
  choice(route: ModelRoute): KeyChoice;
  /** Present on a first turn without a name: takes the answer, by which the next turn is recognised. */
  rememberFirstAnswer?(answer: ChatMessage): void;
  /** Takes the messages that replace the beginning of the conversation from now on. */
  rename(messages: readonly ChatMessage[]): void;
}

/** The parts of a request that determine its place. */
export interface PlacedRequest {
  accountId: string;
  chat: ChatRequest;
  body: Readonly<Record<string, unknown>>;
  model: CatalogModel;
  routes: readonly ModelRoute[];
}

export interface AffinityDeps {
  provider(name: string): Provider | undefined;
  /** The provider that issued a sealed value, if the gateway has seen it. */
  minterOf(value: string): string | undefined;
}

/** Remembers where conversations are served. */
export class Affinity {
  readonly #deps: AffinityDeps;
  readonly #places = new Map<number | bigint, Place>();

  constructor(deps: AffinityDeps) {
    this.#deps = deps;
  }

  /** Where a request should be sent; undefined if there is no choice. */
  placementOf(request: PlacedRequest): Placement | undefined {
    const { routes } = request;
    const only = routes.length === 1 ? routes[0] : undefined;
    if (only !== undefined && (this.#deps.provider(only.provider)?.keys.size ?? 1) <= 1) return undefined;
    const name = nameOf(request);
    return name === undefined ? this.#firstTurn(request) : this.#laterTurn(request, name);
  }

  #laterTurn(request: PlacedRequest, name: number | bigint): Placement {
    const { routes } = request;
    const place = this.#places.get(name);
    let latest = place;
    return {
      first: place ?? this.#minterOf(request),
      choice: ({ provider, model }) => ({
        wanted: place?.provider === provider ? place.key : undefined,
        used: (secret) => {
          latest = { provider, model, key: Bun.hash(secret) };
          this.#used(name, latest, routes);
        },
      }),
      rename: (messages) => this.#named(request, messages, latest),
    };
  }

  /** A first turn is routed by weight. It gets a name once it is answered. */
  #firstTurn(request: PlacedRequest): Placement {
    let place: Place | undefined;
    return {
      first: undefined,
      choice: ({ provider, model }) => ({
        wanted: undefined,
        used: (secret) => {
          place = { provider, model, key: Bun.hash(secret) };
        },
      }),
      rememberFirstAnswer: (answer) => this.#named(request, [...request.chat.messages, answer], place),
      rename: (messages) => this.#named(request, messages, place),
    };
  }

  /** Remembers a place under the name that follows from the messages. */
  #named(request: PlacedRequest, messages: readonly ChatMessage[], place: Place | undefined): void {
    const name = nameOf({ ...request, chat: { ...request.chat, messages: [...messages] } });
    if (name !== undefined && place !== undefined) this.#used(name, place, request.routes);
  }

  /** Remembers the place of a conversation. A known place is only replaced if its route no longer exists. */
  #used(name: number | bigint, now: Place, routes: readonly ModelRoute[]): void {
    const before = this.#places.get(name);
    const isThere =
      before !== undefined &&
      routes.some(({ provider, model }) => provider === before.provider && model === before.model);
    this.#places.delete(name);
    this.#places.set(name, isThere ? before : now);
    if (this.#places.size <= CONVERSATIONS_MAX) return;
    const oldest = this.#places.keys().next().value;
    if (oldest !== undefined) this.#places.delete(oldest);
  }

  /** The route whose provider sealed the latest reasoning. */
  #minterOf({ chat, routes }: PlacedRequest): ModelRoute | undefined {
    const minter = latestMinter(chat.messages, (value) => this.#deps.minterOf(value));
    if (minter === undefined) return undefined;
    return routes.find((route) => this.#deps.provider(route.provider)?.minter === minter);
  }
}

function latestMinter(
  messages: readonly ChatMessage[],
  minterOf: (value: string) => string | undefined,
): string | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!;
    if (message.role !== "assistant") continue;
    for (const part of message.content) {
      if (part.type !== "reasoning" && part.type !== "tool-call") continue;
      const value = part.signature ?? ("encrypted" in part ? part.encrypted : undefined);
      const minter = part.minter ?? (value === undefined ? undefined : minterOf(value));
      if (minter !== undefined) return minter;
    }
  }
  return undefined;
}

/** A fingerprint of the conversation with its account and model; undefined for a first turn without a name. */
function nameOf({ accountId, chat, body, model }: PlacedRequest): number | bigint | undefined {
  const named = chat.threadId ?? body["prompt_cache_key"] ?? userOf(body);
  if (typeof named === "string" && named !== "")
    return Bun.hash(`name\u0000${accountId}\u0000${model.id}\u0000${named}`);
  let hash: number | bigint = Bun.hash(`opening\u0000${accountId}\u0000${model.id}`);
  for (const message of chat.messages) {
    hash = Bun.hash(textOf(message), BigInt(hash));
    if (message.role === "assistant") return hash;
  }
  return undefined;
}

function userOf({ metadata }: Readonly<Record<string, unknown>>): unknown {
  return typeof metadata === "object" && metadata !== null && "user_id" in metadata ? metadata.user_id : undefined;
}

/** The texts and calls of a message. Reasoning is left out, since clients may return it in another form. */
function textOf({ role, content }: ChatMessage): string {
  let text: string = role;
  for (const part of content) {
    if (part.type === "text") text += `\u0000${part.text}`;
    else if (part.type === "tool-call") text += `\u0000${part.callId}`;
  }
  return text;
}
