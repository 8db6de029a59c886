// The answer to a request as its readers see it, in the ways in which they read its body.

import type { Polled } from "../../base/later.ts";
import type { AnswerHead } from "./answer-head.ts";

/** Bytes of a body, from one position of a buffer to another: a view of them would cost more than reading them. */
export interface BodyPart {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
}

/** Takes the bytes of a body as they arrive. */
export interface PartTaker {
  /** Returns false if the next bytes are to be polled for. Must not throw. */
  took(bytes: Uint8Array, from: number, to: number): boolean;
}

/** An answer whose head has arrived. */
export interface WireAnswer {
  readonly head: AnswerHead;
  /**
   * The bytes that arrived since the last call, as soon as there are any; undefined at the end. Not to be called again before it
   * has answered. Throws `BrokenAnswer` if the answer is cut off, or the reason with which it was stopped.
   */
  read(): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /**
   * The same for those who do not want a promise for each part. `wake` is called as the bytes arrive, and must not throw. `taker`
   * is given them instead until it is to be woken; it is not told of the end.
   */
  poll(wake: () => void, taker?: PartTaker): Polled<BodyPart | undefined>;
  /** The same as one text in UTF-8, of an answer that is complete and was not read. */
  text(): string;
  /** Whether all bytes have arrived. */
  readonly isComplete: boolean;
  /** Ends the exchange and closes its connection, unless it is complete. */
  stop(reason: unknown): void;
}
