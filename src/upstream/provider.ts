// A provider speaks a dialect with a base URL, credentials and known facts. A card contains what is known about a vendor; a
// provider is a card with the operator's configuration and its state (the rotation of credentials).

import { ForwardTime } from "../base/clock.ts";
import type { DialectName, ProviderKind } from "../vendors/protocols.ts";
import type { Quirks } from "../vendors/quirks.ts";
import type { DecisionFacts, DiscoveredModel, EmbeddedDecisionModel } from "../vendors/vendor.ts";
import type { WireClient } from "./connection/client.ts";
import type { Dialect } from "./dialect.ts";
import type { EndUserScope } from "./end-user.ts";

/** The facts about a vendor for one of its protocols (created in providers/index.ts). */
export interface ProviderCard {
  /** The name of the preset in the configuration or, for a generic card, a name for the protocol. */
  name: string;
  dialect: DialectName;
  /** The base URL with its version segment, as in the vendor's own SDK. */
  baseUrl: string;
  /** The request headers with the credential and the protocol version. `secret` is "" if no key is needed. */
  headers(secret: string): Readonly<Record<string, string>>;
  quirks: Quirks;
  portableSeals?: boolean;
  signsThinking?: boolean;
  decisions?: DecisionFacts;
  /** The models of an embedded provider. */
  embeddedModels?: readonly DiscoveredModel[];
  embeddedDecisionModels?: readonly EmbeddedDecisionModel[];
  /** The path of the model list, relative to the base URL; absent if the vendor has none. */
  modelsPath?: string;
  /** Reads the model list. Throws if the body is not one. */
  parseModels?(body: unknown): DiscoveredModel[];
  /** A second list, which is read if the first one has nothing but ids. */
  details?: { path: string; parse(body: unknown): DiscoveredModel[] };
  /** A list of further models; empty if it is refused. */
  further?: { path: string; parse(body: unknown): DiscoveredModel[] };
}

/** Sends a request and returns the answer as `fetch` does. */
export type Transport = (url: string, init: BunFetchRequestInit) => Promise<Response>;

/** A configured provider. */
export interface Provider {
  /** The name of its entry in the configuration. */
  name: string;
  dialect: Dialect;
  card: ProviderCard;
  /** Identifies whose sealed values it can read: its own, and those of other providers with the same value. */
  minter: string;
  baseUrl: string;
  quirks: Quirks;
  /** Whose names the provider is told with requests. */
  endUsers: EndUserScope;
  /** The operator's headers, which are set last so that they take precedence. */
  extraHeaders: Readonly<Record<string, string>>;
  keys: CredentialPool;
  timeoutsMs: { connect: number; firstByte: number; idle: number };
  retry: { attempts: number; baseMs: number; maxMs: number };
  /** The gateway's own HTTP client; undefined if calls are sent by `transport`. */
  client: WireClient | undefined;
  transport: Transport;
  /** Whether it is embedded, so that it is never chosen as a fallback for another model. */
  embedded: boolean;
  /** For a cloud, whose models have several protocols: the provider for one of them. */
  forModel?(model: string, wish: ProtocolWish): Provider;
  /** The same provider with its other protocol at the same base URL; absent if it has only one. */
  byResponses?: Provider;
}

/** What decides the protocol where a model has several. */
export interface ProtocolWish {
  /** As configured for the route. */
  readonly protocol?: ProviderKind | undefined;
  /** The client's own. */
  readonly family?: string | undefined;
  /** Whether chat completions refuse the model or its tools. */
  readonly responses: boolean;
}

/** How long a refused or rate-limited credential is suspended by default. */
const REST_MS = 60_000;

/** The credentials of one provider, which are used in turn. A credential that fails is suspended for a while. */
export class CredentialPool {
  readonly #keys: readonly string[];
  readonly #restUntil: number[];
  readonly #time = new ForwardTime();
  #next = 0;

  constructor(keys: readonly string[]) {
    this.#keys = keys;
    this.#restUntil = keys.map(() => 0);
  }

  get size(): number {
    return this.#keys.length;
  }

  /**
   * The next credential that is not suspended or, if all are, the one whose suspension ends first; "" if there is none. `wanted`:
   * the fingerprint of the preferred one.
   */
  take(clockMs: number, wanted?: number | bigint): string {
    if (this.#keys.length <= 1) return this.#keys[0] ?? "";
    const nowMs = this.#time.at(clockMs);
    if (wanted !== undefined) {
      const at = this.#placeOf(wanted);
      const key = this.#keys[at];
      if (key !== undefined && (this.#restUntil[at] ?? 0) <= nowMs) return key;
    }
    const best = this.#best(nowMs);
    this.#next = (best + 1) % this.#keys.length;
    return this.#keys[best] ?? "";
  }

  #placeOf(wanted: number | bigint): number {
    return this.#keys.findIndex((key) => Bun.hash(key) === wanted);
  }

  /**
   * All credentials, first the one that is used next, for what is asked beside the requests and must not change their turns; ""
   * if there is none.
   */
  inOrder(clockMs: number): readonly string[] {
    const best = this.#best(this.#time.at(clockMs));
    return this.#keys.length === 0 ? [""] : [...this.#keys.slice(best), ...this.#keys.slice(0, best)];
  }

  #best(nowMs: number): number {
    let best = this.#next % this.#keys.length;
    for (let i = 0; i < this.#keys.length; i++) {
      const at = (this.#next + i) % this.#keys.length;
      if ((this.#restUntil[at] ?? 0) <= nowMs) {
        best = at;
        break;
      }
      if ((this.#restUntil[at] ?? 0) < (this.#restUntil[best] ?? 0)) best = at;
    }
    return best;
  }

  /** Whether there is a credential that is not suspended. */
  hasFresh(clockMs: number): boolean {
    const nowMs = this.#time.at(clockMs);
    return this.#restUntil.some((untilMs) => untilMs <= nowMs);
  }

  /** Suspends a credential that failed. */
  rest(key: string, clockMs: number, ms = REST_MS): void {
    const at = this.#keys.indexOf(key);
    if (at >= 0) this.#restUntil[at] = this.#time.at(clockMs) + ms;
  }
}
