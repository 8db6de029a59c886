// The usage of one answer that is relayed: what the upstream reports and what was written, until both are settled.

import type { Usage } from "../chat/event.ts";
import { laterUsage } from "../chat/usage.ts";
import { OutputText } from "./output-text.ts";

/** Decides the usage of an answer. */
interface Settler {
  settle(told: Usage | undefined, output: OutputText): Usage;
}

/** Collects the usage of an answer. */
export class RelayedUsage {
  /** What the model wrote. */
  readonly output = new OutputText();
  readonly #settler: Settler;
  #told: Usage | undefined;
  #raw: unknown;
  /** How much had been written when the output was reported. */
  #writtenThen = 0;
  #isNew = false;
  #settled: Usage | undefined;

  constructor(settler: Settler) {
    this.#settler = settler;
  }

  /** The last object that reported something, as the upstream sent it. */
  get raw(): unknown {
    return this.#raw;
  }

  /** Takes a report, of which later ones take precedence. */
  tell(usage: Usage | undefined, raw?: unknown): void {
    if (usage === undefined) return;
    this.#told = laterUsage(this.#told, usage);
    this.#raw = raw;
    // What was settled before is out of date.
    this.#settled = undefined;
    if (usage.outputTokens > 0) {
      this.#isNew = true;
      this.#writtenThen = this.output.written;
    }
  }

  /** Called when the output of the frame that reported has been added: the report includes it. */
  frameEnded(): void {
    if (this.#isNew) this.#writtenThen = this.output.written;
    this.#isNew = false;
  }

  /** The usage of the complete answer. */
  settle(): Usage {
    this.#settled ??= this.#settler.settle(this.#reported(), this.output);
    return this.#settled;
  }

  /** The usage so far; undefined if the upstream has reported none. */
  get spent(): Usage | undefined {
    const told = this.#settled ?? this.#reported();
    return told === undefined || this.output.written === 0 ? told : this.#settler.settle(told, this.output);
  }

  #reported(): Usage | undefined {
    const isPartial = this.output.written > this.#writtenThen;
    return this.#told !== undefined && isPartial ? { ...this.#told, partial: true } : this.#told;
  }
}
