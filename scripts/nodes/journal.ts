// The outcomes of the clients' requests, and the faults that explain failures.

import type { Cost } from "./questions.ts";

/** One request of a client. */
export interface Entry {
  /** The number in the question; the id of the request is `requestId`. */
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
  /** A description of the failure. */
  why: string;
  /** The provider's charge for a complete answer. */
  cost: Cost | undefined;
}

/** A period in which answers may fail. */
export interface Fault {
  readonly name: string;
  readonly fromMs: number;
  toMs: number;
  /** Whether the fault explains this failure. */
  explains(entry: Entry): boolean;
}

/** The record of all clients. */
export class Journal {
  readonly entries: Entry[] = [];
  readonly #faults: Fault[] = [];

  /** Records the beginning of a fault; the result ends it. */
  fault(name: string, explains: (entry: Entry) => boolean): () => void {
    const fault: Fault = { name, fromMs: performance.now(), toMs: Number.POSITIVE_INFINITY, explains };
    this.#faults.push(fault);
    return () => {
      fault.toMs = performance.now();
    };
  }

  /** Whether there was a fault during this time. */
  isFaulty(fromMs: number, toMs: number): boolean {
    return this.#faults.some((fault) => fault.fromMs <= toMs && fromMs <= fault.toMs);
  }

  /** Failures that no fault explains. Refusals because of a key's limit are not failures. */
  unexplained(limited: (key: string) => boolean): Entry[] {
    return this.entries.filter((entry) => {
      if (entry.outcome === "whole" || (entry.status === 429 && limited(entry.key))) return false;
      const { startMs, endMs } = entry;
      return !this.#faults.some((fault) => fault.fromMs <= endMs && startMs <= fault.toMs && fault.explains(entry));
    });
  }

  /** The number of answers by outcome, as text. */
  summary(): string {
    const counts = new Map<string, number>();
    for (const { outcome, status, code } of this.entries) {
      const name = outcome === "refused" ? `${status} ${code}` : outcome === "none" ? "no answer" : outcome;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return [...counts].map(([name, count]) => `${name}: ${count}`).join(", ");
  }
}
