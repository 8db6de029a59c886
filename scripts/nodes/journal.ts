// What the clients of the trial saw, and the faults that explain what went wrong.

import type { Cost } from "./questions.ts";

/** One request of a client. */
export interface Entry {
  /** In the question; the request's id is `requestId`. */
  readonly question: string;
  readonly requestId: string;
  readonly kind: "chat" | "stream" | "decision";
  readonly node: string;
  /** The name of the key. */
  readonly key: string;
  readonly startMs: number;
  endMs: number;
  outcome: "whole" | "refused" | "none";
  status: number;
  code: string;
  /** What went wrong, in words. */
  why: string;
  /** The provider's charge for a whole answer. */
  cost: Cost | undefined;
}

/** A time in which an answer may fail. */
export interface Fault {
  readonly name: string;
  readonly fromMs: number;
  toMs: number;
  /** Whether the fault explains this failure. */
  explains(entry: Entry): boolean;
}

/** The clients' record. */
export class Journal {
  readonly entries: Entry[] = [];
  readonly #faults: Fault[] = [];

  /** Notes the beginning of a fault; the result ends it. */
  fault(name: string, explains: (entry: Entry) => boolean): () => void {
    const fault: Fault = { name, fromMs: performance.now(), toMs: Number.POSITIVE_INFINITY, explains };
    this.#faults.push(fault);
    return () => {
      fault.toMs = performance.now();
    };
  }

  /** Whether a fault fell into this time. */
  isFaulty(fromMs: number, toMs: number): boolean {
    return this.#faults.some((fault) => fault.fromMs <= toMs && fromMs <= fault.toMs);
  }

  /** Failures that no fault explains; refusals by a key's limit are none. */
  unexplained(limited: (key: string) => boolean): Entry[] {
    return this.entries.filter((entry) => {
      if (entry.outcome === "whole" || (entry.status === 429 && limited(entry.key))) return false;
      const { startMs, endMs } = entry;
      return !this.#faults.some((fault) => fault.fromMs <= endMs && startMs <= fault.toMs && fault.explains(entry));
    });
  }

  /** The number of answers by outcome, for people. */
  summary(): string {
    const counts = new Map<string, number>();
    for (const { outcome, status, code } of this.entries) {
      const name = outcome === "refused" ? `${status} ${code}` : outcome === "none" ? "no answer" : outcome;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return [...counts].map(([name, count]) => `${name}: ${count}`).join(", ");
  }
}
