// What is sent to a thread that reads and judges by robots.txt files, and what comes back.

/** The text of a file, to be read. */
export interface RobotsReadTask {
  readonly kind: "read";
  readonly url: string;
  readonly body: Uint8Array;
  readonly robot: string;
}

/** A path, to be judged by rules that `read` gave. */
export interface JudgeTask {
  readonly kind: "judge";
  /** Names the rules: a thread keeps the last ones opened. */
  readonly id: number;
  readonly rules: SharedArrayBuffer;
  readonly path: string;
}

/** What a thread takes. */
export type RobotsTask = RobotsReadTask | JudgeTask;

/** A file that was read. */
export interface ReadAnswer {
  readonly rules: SharedArrayBuffer;
  readonly stepsPerChar: number;
  readonly sitemaps: readonly string[];
  readonly crawlDelayMs: number;
}

/** Text of Latin letters that threads share: a copy with each path would cost more than most judgements. */
export function shareText(text: string): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(text.length);
  Buffer.from(shared).write(text, "latin1");
  return shared;
}

/** The text again. */
export function sharedText(shared: SharedArrayBuffer): string {
  return Buffer.from(shared).toString("latin1");
}
