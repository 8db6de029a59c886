// The worker's side of the pool: processes one task at a time. Runs in a worker thread only.

import { lowerThisThread, toldNiceness } from "./priority.ts";

/** Messages from the pool. */
export interface TaskMessage<Input> {
  readonly id: number;
  readonly input: Input;
}

/** Messages to the pool. */
export type TaskAnswer<Output> =
  | { readonly id: number; readonly output: Output }
  | { readonly id: number; readonly error: string };

declare const self: { onmessage: (event: MessageEvent) => void; postMessage(message: unknown): void };

/** A thread that was idle for this long collects garbage, while nobody waits for it. */
const RESTS_AFTER_MS = 500;
/** The garbage of a few small tasks is not worth it. */
const UNTIDY_MS_MIN = 100;

/** Passes every task to `handle`. A throw fails that task, not the worker. */
export function serveTasks<Input, Output>(handle: (input: Input) => Output | Promise<Output>): void {
  lowerThisThread(toldNiceness());
  let workedMs = 0;
  let rest: ReturnType<typeof setTimeout> | undefined;
  self.onmessage = async (event: MessageEvent<TaskMessage<Input>>) => {
    const { id, input } = event.data;
    clearTimeout(rest);
    const startedMs = performance.now();
    let answer: TaskAnswer<Output>;
    try {
      answer = { id, output: await handle(input) };
    } catch (error) {
      answer = { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
    self.postMessage(answer);
    workedMs += performance.now() - startedMs;
    if (workedMs < UNTIDY_MS_MIN) return;
    // The collector would wait for more work, and a page's tree may be a hundred megabytes.
    rest = setTimeout(() => {
      workedMs = 0;
      Bun.gc(true);
    }, RESTS_AFTER_MS);
  };
}
