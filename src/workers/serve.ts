// The worker's side of the pool. Runs in a worker thread and processes one task at a time.

import { lowerThisThread, toldNiceness } from "./priority.ts";

/** Messages from the pool. */
export interface TaskMessage<Input> {
  readonly id: number;
  readonly input: Input;
}

/** Messages to the pool. `usedMs`: the processor time of the thread for the task. */
export type TaskAnswer<Output> = { readonly id: number; readonly usedMs: number } & (
  | { readonly output: Output }
  | { readonly error: string }
);

declare const self: { onmessage: (event: MessageEvent) => void; postMessage(message: unknown): void };

/** A thread that was idle for this long collects garbage, as nobody waits for it then. */
const RESTS_AFTER_MS = 500;
/** If its tasks took less time than this together, their garbage is not worth a collection. */
const UNTIDY_MS_MIN = 100;

/** Passes every task to `handle`. If it throws, the task fails but the worker continues. */
export function serveTasks<Input, Output>(handle: (input: Input) => Output | Promise<Output>): void {
  lowerThisThread(toldNiceness());
  let workedMs = 0;
  let rest: ReturnType<typeof setTimeout> | undefined;
  self.onmessage = async (event: MessageEvent<TaskMessage<Input>>) => {
    const { id, input } = event.data;
    clearTimeout(rest);
    const startedMs = performance.now();
    const usedBeforeMs = usedMsOfThread();
    let outcome: { readonly output: Output } | { readonly error: string };
    try {
      outcome = { output: await handle(input) };
    } catch (error) {
      outcome = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
    const answer: TaskAnswer<Output> = { id, usedMs: usedMsOfThread() - usedBeforeMs, ...outcome };
    self.postMessage(answer);
    workedMs += performance.now() - startedMs;
    if (workedMs < UNTIDY_MS_MIN) return;
    // The collector would otherwise wait for more work, and the tree of a page may take a hundred megabytes.
    rest = setTimeout(() => {
      workedMs = 0;
      Bun.gc(true);
    }, RESTS_AFTER_MS);
  };
}

function usedMsOfThread(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
