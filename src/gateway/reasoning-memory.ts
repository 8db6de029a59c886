// What this process remembers about reasoning: which provider issued a sealed value without our mark, relayed unchanged to
// the client. Bounded, and lost with the process: unknown values are left to the provider's judgement.

import { CallReasoning } from "./call-reasoning.ts";

/** Sealed values whose provider is remembered; a few dozen bytes each. */
const VALUES_MAX = 50_000;
/** Models that are remembered to return no encrypted reasoning. */
const MODELS_MAX = 1000;

/** The memory. */
export class ReasoningMemory {
  /** The reasoning behind tool calls. */
  readonly calls = new CallReasoning();
  /** Fingerprints of values to providers, oldest first. */
  readonly #minters = new Map<number | bigint, string>();
  /** Providers that returned reasoning without a seal. */
  readonly #unsigned = new Set<string>();

  /** Providers and models that refused to return encrypted reasoning. */
  readonly #sealless = new Set<string>();

  /** Records that a provider returned a sealed value; undefined: reasoning without one. */
  minted(value: string | undefined, minter: string): void {
    if (value === undefined) {
      this.#unsigned.add(minter);
      return;
    }
    const print = Bun.hash(value);
    this.#minters.delete(print);
    this.#minters.set(print, minter);
    if (this.#minters.size <= VALUES_MAX) return;
    const oldest = this.#minters.keys().next().value;
    if (oldest !== undefined) this.#minters.delete(oldest);
  }

  /** The provider that issued a value; undefined if that was not seen. */
  minterOf(value: string): string | undefined {
    return this.#minters.get(Bun.hash(value));
  }

  /** Records that a provider refused a request because it asked for the model's encrypted reasoning. */
  refusedToSeal(minter: string, model: string): void {
    if (this.#sealless.size < MODELS_MAX) this.#sealless.add(`${minter} ${model}`);
  }

  /** Whether encrypted reasoning may be requested. */
  maySeal(minter: string, model: string): boolean {
    return !this.#sealless.has(`${minter} ${model}`);
  }

  /** Whether the provider returned reasoning without a seal: then it accepts it back. */
  gaveUnsigned(minter: string): boolean {
    return this.#unsigned.has(minter);
  }
}
