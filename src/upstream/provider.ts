// Who speaks a dialect: base URL, credentials, facts. A card is what is known of a vendor; a provider is a card with the
// operator's configuration applied, and the state that belongs to it (key rotation).

import type { DialectName } from "../vendors/protocols.ts";
import type { Quirks } from "../vendors/quirks.ts";
import type { DecisionFacts, DiscoveredModel } from "../vendors/vendor.ts";
import type { Dialect } from "./dialect.ts";

/** What a vendor's file says of one protocol that it speaks (providers/index.ts makes it). */
export interface ProviderCard {
  /** The preset's name in the config; of a generic card, a name for the protocol. */
  name: string;
  dialect: DialectName;
  /** With its version segment, as the vendor's own SDK takes it. */
  baseUrl: string;
  /** Request headers that carry the credential and protocol version; `secret` is "" where no key is needed. */
  headers(secret: string): Record<string, string>;
  quirks: Quirks;
  portableSeals?: boolean;
  signsThinking?: boolean;
  decisions?: DecisionFacts;
  /** The models of a provider that is part of the program. */
  embeddedModels?: readonly DiscoveredModel[];
  /** Path of the model list, relative to the base URL; absent where the vendor has none. */
  modelsPath?: string;
  /** Reads the model list; throws on a body that is not one. */
  parseModels?(body: unknown): DiscoveredModel[];
}

/** Sends a request; `fetch` unless the provider is embedded. */
export type Transport = (url: string, init: BunFetchRequestInit) => Promise<Response>;

/** A configured provider. */
export interface Provider {
  /** The key of its entry in the config. */
  name: string;
  dialect: Dialect;
  card: ProviderCard;
  /** Whose sealed values it can read: its own, and those of other providers with the same word here. */
  minter: string;
  baseUrl: string;
  quirks: Quirks;
  /** Headers of the operator's, sent last so that they win. */
  extraHeaders: Readonly<Record<string, string>>;
  keys: CredentialPool;
  timeoutsMs: { connect: number; firstByte: number; idle: number };
  retry: { attempts: number; baseMs: number; maxMs: number };
  transport: Transport;
  /** Part of the program: never chosen as a fallback for another model. */
  embedded: boolean;
  /** The same provider, spoken to by its other protocol at the same base URL; absent where it has one only. */
  byResponses?: Provider;
}

/** How long a key that the upstream refused or limited is skipped, when it does not say. */
const REST_MS = 60_000;

/** The credentials of one provider, used in turn; a failing one is suspended for a while. */
export class CredentialPool {
  readonly #keys: readonly string[];
  readonly #restUntil: number[];
  #next = 0;

  constructor(keys: readonly string[]) {
    this.#keys = keys;
    this.#restUntil = keys.map(() => 0);
  }

  get size(): number {
    return this.#keys.length;
  }

  /**
   * The next key that is not resting; the one whose rest ends first when all are; "" when there is none. `wanted`: the
   * fingerprint of the one to take while it does not rest.
   */
  take(nowMs: number, wanted?: number | bigint): string {
    if (this.#keys.length <= 1) return this.#keys[0] ?? "";
    if (wanted !== undefined) {
      const at = this.#keys.findIndex((key) => Bun.hash(key) === wanted);
      const key = this.#keys[at];
      if (key !== undefined && (this.#restUntil[at] ?? 0) <= nowMs) return key;
    }
    let best = this.#next % this.#keys.length;
    for (let i = 0; i < this.#keys.length; i++) {
      const at = (this.#next + i) % this.#keys.length;
      if ((this.#restUntil[at] ?? 0) <= nowMs) {
        best = at;
        break;
      }
      if ((this.#restUntil[at] ?? 0) < (this.#restUntil[best] ?? 0)) best = at;
    }
    this.#next = (best + 1) % this.#keys.length;
    return this.#keys[best] ?? "";
  }

  /** True when a key is there that is not resting. */
  hasFresh(nowMs: number): boolean {
    return this.#restUntil.some((untilMs) => untilMs <= nowMs);
  }

  /** Rests a key that failed. */
  rest(key: string, nowMs: number, ms = REST_MS): void {
    const at = this.#keys.indexOf(key);
    if (at >= 0) this.#restUntil[at] = nowMs + ms;
  }
}
