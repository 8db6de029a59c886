// The messages to and from a thread that reads robots.txt files and judges addresses by them.

/** A file to read. */
export interface RobotsReadTask {
  readonly kind: "read";
  readonly url: string;
  readonly body: Uint8Array;
  readonly robot: string;
}

/** A path to judge by rules that `read` returned. */
export interface JudgeTask {
  readonly kind: "judge";
  /** Identifies the rules. A thread keeps those that it used last. */
  readonly id: number;
  readonly rules: SharedArrayBuffer;
  readonly path: string;
}

/** The tasks that a thread can run. */
export type RobotsTask = RobotsReadTask | JudgeTask;

/** A file that was read. */
export interface ReadAnswer {
  readonly rules: SharedArrayBuffer;
  readonly stepsPerChar: number;
  readonly sitemaps: readonly string[];
  readonly crawlDelayMs: number;
}

/**
 * Copies a text to memory that threads share, as Latin-1. Sending the rules with each path would cost more than most judgements.
 */
export function shareText(text: string): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(text.length);
  Buffer.from(shared).write(text, "latin1");
  return shared;
}

/** Reads a text from shared memory. */
export function sharedText(shared: SharedArrayBuffer): string {
  return Buffer.from(shared).toString("latin1");
}
