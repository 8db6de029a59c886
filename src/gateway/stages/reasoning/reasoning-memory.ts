// What this process remembers about reasoning: mainly which provider issued a sealed value that was relayed to the client without
// the gateway's mark. The memory is limited and lost with the process. Unknown values are sent, and the provider decides.

import { CallReasoning } from "./call-reasoning.ts";

/** Maximum number of sealed values that are remembered; each takes a few dozen bytes. */
const VALUES_MAX = 50_000;
/** Maximum number of models that are remembered to return no encrypted reasoning. */
const MODELS_MAX = 1000;

/** The memory of one process. */
export class ReasoningMemory {
  /** The reasoning behind tool calls. */
  readonly calls = new CallReasoning();
  /** The providers that issued values, by the values' fingerprints, oldest first. */
  readonly #minters = new Map<number | bigint, string>();
  /** The providers that returned reasoning without a seal. */
  readonly #unsigned = new Set<string>();

  /** The providers and models that refused to return encrypted reasoning. */
  readonly #sealless = new Set<string>();

  /** Records that a provider returned a sealed value or, if `value` is undefined, reasoning without a seal. */
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

  /** The provider that issued a value; undefined if the gateway has not seen it. */
  minterOf(value: string): string | undefined {
    return this.#minters.get(Bun.hash(value));
  }

  /** Records that a provider refused a request because it asked for encrypted reasoning. */
  refusedToSeal(minter: string, model: string): void {
    if (this.#sealless.size < MODELS_MAX) this.#sealless.add(`${minter} ${model}`);
  }

  /** Whether encrypted reasoning may be requested. */
  maySeal(minter: string, model: string): boolean {
    return !this.#sealless.has(`${minter} ${model}`);
  }

  /** Whether the provider returned reasoning without a seal, so that it accepts such reasoning back. */
  gaveUnsigned(minter: string): boolean {
    return this.#unsigned.has(minter);
  }
}
