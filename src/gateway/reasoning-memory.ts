// What this process remembers of reasoning: which provider minted a sealed value that carries no mark of ours, because it
// went to the client as it came. Bounded, and lost with the process: what is not known is left to the provider's judgement.

import { CallReasoning } from "./call-reasoning.ts";

/** Sealed values whose provider is remembered; a few dozen bytes each. */
const VALUES_MAX = 50_000;
/** Models that are remembered to give no encrypted reasoning. */
const MODELS_MAX = 1000;

/** The memory. */
export class ReasoningMemory {
  /** The reasoning behind tool calls. */
  readonly calls = new CallReasoning();
  /** Fingerprints of values to providers, oldest first. */
  readonly #minters = new Map<number | bigint, string>();
  /** Providers that gave reasoning without a seal. */
  readonly #unsigned = new Set<string>();

  /** Providers and models that refused to give encrypted reasoning. */
  readonly #sealless = new Set<string>();

  /** A provider gave a sealed value; undefined: reasoning without one. */
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

  /** Who minted a value; undefined where that was not seen. */
  minterOf(value: string): string | undefined {
    return this.#minters.get(Bun.hash(value));
  }

  /** A provider refused a request because encrypted reasoning of the model was asked for. */
  refusedToSeal(minter: string, model: string): void {
    if (this.#sealless.size < MODELS_MAX) this.#sealless.add(`${minter} ${model}`);
  }

  /** Whether encrypted reasoning may be asked for. */
  maySeal(minter: string, model: string): boolean {
    return !this.#sealless.has(`${minter} ${model}`);
  }

  /** Whether the provider gave reasoning without a seal: such a one takes it back. */
  gaveUnsigned(minter: string): boolean {
    return this.#unsigned.has(minter);
  }
}
