// The messages to and from a thread that reads and judges by robots.txt files.

/** The text of a file to read. */
export interface RobotsReadTask {
  readonly kind: "read";
  readonly url: string;
  readonly body: Uint8Array;
  readonly robot: string;
}

/** A path to judge by rules that `read` returned. */
export interface JudgeTask {
  readonly kind: "judge";
  /** Identifies the rules: a thread keeps the ones opened last. */
  readonly id: number;
  readonly rules: SharedArrayBuffer;
  readonly path: string;
}

/** The tasks of a thread. */
export type RobotsTask = RobotsReadTask | JudgeTask;

/** A file that was read. */
export interface ReadAnswer {
  readonly rules: SharedArrayBuffer;
  readonly stepsPerChar: number;
  readonly sitemaps: readonly string[];
  readonly crawlDelayMs: number;
}

/** Latin-1 text that threads share: a copy with each path would cost more than most judgements. */
export function shareText(text: string): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(text.length);
  Buffer.from(shared).write(text, "latin1");
  return shared;
}

/** Reads the text back. */
export function sharedText(shared: SharedArrayBuffer): string {
  return Buffer.from(shared).toString("latin1");
}
