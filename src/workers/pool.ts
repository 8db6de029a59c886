// Threads for work that would block the event loop. Every task has a deadline; a thread that misses it is killed and replaced,
// whatever it was doing. Accounts take turns. Threads start on first use, are replaced after many tasks, and end when they are
// idle.

import { isRecord } from "../base/json-object.ts";
import { type Limit, limit, lone } from "../base/limit.ts";
import { FairQueue, type Queued } from "./fair-queue.ts";
import type { TaskAnswer, TaskMessage } from "./serve.ts";

/** The task missed its deadline, and its thread was killed. */
export class TaskTimeout extends Error {
  override name = "TaskTimeout";
}

/** The task threw, or its thread died. */
export class TaskFailed extends Error {
  override name = "TaskFailed";
}

/** Too many tasks are waiting, in total or for the account. */
export class PoolFull extends Error {
  override name = "PoolFull";
}

/** Options of one task. */
export interface RunOptions {
  /** The account for which the task runs; "" for the program's own work. */
  readonly account: string;
  /** The time limit, which is counted from when a thread takes the task. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether nobody waits for the task. Tasks for which someone waits go first. */
  readonly later?: boolean | undefined;
  /** Buffers that are transferred instead of copied, so that the caller can no longer use them. */
  readonly transfer?: ArrayBuffer[];
}

/** A pool of threads of one kind. */
export interface WorkerPool<Input, Output> {
  /** Throws `TaskTimeout`, `TaskFailed`, `PoolFull` or the signal's reason. */
  run(input: Input, options: RunOptions): Promise<Output>;
  /** The numbers of tasks that run and that wait for a thread. */
  load(): { readonly running: number; readonly waiting: number };
  /** Kills all threads; waiting tasks fail. */
  close(): void;
}

/** A thread as the pool uses it: a `Worker`, or a thread of another process. */
export interface PoolThread {
  onmessage: ((event: MessageEvent) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  /** Called if its process has ended, which is not the fault of its task alone. */
  onlost?: (() => void) | null;
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  terminate(): void;
  unref?(): void;
}

/** Options of the pool. */
export interface PoolOptions<Input> {
  /** Starts a thread whose module calls `serveTasks`. */
  readonly start: () => PoolThread;
  /**
   * How many tasks run at the same time. A function may return another number from task to task. Below one, one task runs at a
   * time, and the pool rests after it, so that tasks use no more than this share of a processor. No rest is longer than a second:
   * tasks that take so long that they would need one use more.
   */
  readonly size: number | (() => number);
  /** How long a thread may be idle before it ends. */
  readonly idleMs?: number;
  /** A thread is replaced after this many tasks. */
  readonly tasksMax?: number;
  /** Maximum number of tasks that wait for a thread. One account may have half of them. */
  readonly queueMax?: number;
  /**
   * The memory that a waiting task holds, and the limit for all of them, of which one account may use half. A task for which
   * nobody waits is always accepted.
   */
  readonly weigh?: (input: Input) => number;
  readonly weightMax?: number;
}

const QUEUE_MAX = 1000;
/**
 * Replacing a thread frees memory that a long-lived heap does not return. A new thread compiles all code again, which takes as long
 * as some hundred pages: replaced after 500 of them, a page cost a third more. An idle thread returns nearly all memory anyway.
 */
const TASKS_PER_THREAD_MAX = 5000;
/**
 * How long a thread may be idle by default. A new thread takes a tenth of a second to start, and does not have the optimised code
 * of the previous one.
 */
const IDLE_MS = 60_000;
/** The longest rest after a task. */
const REST_MS_MAX = 1000;
/** A task whose thread was lost with its process is given to another one, but not more often than this. */
const LOSSES_MAX = 2;

interface Task<Input, Output> extends Queued {
  readonly id: number;
  readonly input: Input;
  readonly options: RunOptions;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
  /** How often its thread was lost. */
  losses: number;
}

interface Thread<Input, Output> {
  readonly worker: PoolThread;
  /** When it got its last task. */
  sinceMs: number;
  task: Task<Input, Output> | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** The timer that runs while the thread has no task. */
  idle: Limit | undefined;
  done: number;
}

/** Creates a pool. No thread starts before the first task. */
export function createPool<Input, Output>(options: PoolOptions<Input>): WorkerPool<Input, Output> {
  const pool = new Pool<Input, Output>(options);
  return {
    run: (input, runOptions) => pool.run(input, runOptions),
    load: () => pool.load(),
    close: () => pool.close(),
  };
}

/** How long a pool rests after a task, so that tasks use no more than `share` of a processor, as far as the longest rest suffices. */
export function restMsAfter({ tookMs, usedMs, share }: { tookMs: number; usedMs: number; share: number }): number {
  return share >= 1 ? 0 : Math.min(REST_MS_MAX, Math.max(0, usedMs / share - tookMs));
}

/** The end of a task. `kill`: its thread ends too. */
type Outcome<Output> = { output: Output } | { error: unknown; kill: boolean };

class Pool<Input, Output> implements WorkerPool<Input, Output> {
  readonly #options: PoolOptions<Input>;
  readonly #threads = new Set<Thread<Input, Output>>();
  readonly #waiting: FairQueue<Task<Input, Output>>;
  #nextId = 1;
  /** The end of the rest after a task. */
  #rest: Limit | undefined;
  #isClosed = false;

  constructor(options: PoolOptions<Input>) {
    this.#options = options;
    this.#waiting = new FairQueue({ countMax: options.queueMax ?? QUEUE_MAX, weightMax: options.weightMax });
  }

  async run(input: Input, options: RunOptions): Promise<Output> {
    options.signal?.throwIfAborted();
    if (this.#isClosed) throw new TaskFailed("The worker pool is closed.");
    const { account, later } = options;
    const queued: Queued = { account, later, weight: this.#options.weigh?.(input) ?? 0 };
    if (this.#waiting.isFull(queued)) throw new PoolFull("Too many tasks are waiting.");
    const { promise, resolve, reject } = Promise.withResolvers<Output>();
    const task: Task<Input, Output> = { ...queued, id: this.#nextId++, input, options, resolve, reject, losses: 0 };
    const stop = () => this.#abandon(task, options.signal?.reason);
    options.signal?.addEventListener("abort", stop, { once: true });
    this.#waiting.add(task);
    this.#pump();
    return promise.finally(() => options.signal?.removeEventListener("abort", stop));
  }

  load(): { running: number; waiting: number } {
    return {
      running: [...this.#threads].filter(({ task }) => task !== undefined).length,
      waiting: this.#waiting.size,
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#rest?.cancel();
    for (const thread of [...this.#threads]) {
      thread.task?.reject(new TaskFailed("The worker pool was closed."));
      this.#retire(thread);
    }
    for (const task of this.#waiting.clear()) task.reject(new TaskFailed("The worker pool was closed."));
  }

  get #most(): number {
    const { size } = this.#options;
    return typeof size === "number" ? size : size();
  }

  #pump(): void {
    const most = this.#most;
    if (most < 1 && this.#rest !== undefined) return;
    this.#rest?.cancel();
    this.#rest = undefined;
    while (!this.#isClosed) {
      if (this.load().running >= most) return;
      const idle = [...this.#threads].find((thread) => thread.task === undefined);
      const task = this.#waiting.next();
      if (task === undefined) return;
      this.#give(idle ?? this.#spawn(), task);
    }
  }

  #give(thread: Thread<Input, Output>, task: Task<Input, Output>): void {
    thread.task = task;
    thread.sinceMs = performance.now();
    thread.idle?.cancel();
    thread.timer = setTimeout(
      () => this.#settle(thread, { error: new TaskTimeout("The task took too long and was stopped."), kill: true }),
      task.options.timeoutMs,
    );
    const message: TaskMessage<Input> = { id: task.id, input: withoutRest(task.input) };
    try {
      thread.worker.postMessage(message, task.options.transfer ?? []);
    } catch (error) {
      this.#settle(thread, { error, kill: false });
    }
  }

  #spawn(): Thread<Input, Output> {
    const worker = this.#options.start();
    const thread: Thread<Input, Output> = {
      worker,
      sinceMs: 0,
      task: undefined,
      timer: undefined,
      idle: undefined,
      done: 0,
    };
    thread.worker.onmessage = (event: MessageEvent<TaskAnswer<Output>>) => {
      if (event.data.id !== thread.task?.id) return;
      const { usedMs } = event.data;
      if ("output" in event.data) this.#settle(thread, { output: event.data.output }, usedMs);
      else this.#settle(thread, { error: new TaskFailed(event.data.error), kill: false }, usedMs);
    };
    thread.worker.onerror = (event) => this.#settle(thread, { error: new TaskFailed(event.message), kill: true });
    if ("onlost" in thread.worker) thread.worker.onlost = () => this.#lose(thread);
    // An idle thread must not keep the program alive.
    thread.worker.unref?.();
    this.#threads.add(thread);
    return thread;
  }

  /** The thread's process has ended: its task is done again by another thread. */
  #lose(thread: Thread<Input, Output>): void {
    const { task } = thread;
    if (task !== undefined && task.losses++ < LOSSES_MAX && !this.#isClosed) {
      thread.task = undefined;
      this.#waiting.done(task);
      this.#waiting.add(task);
    }
    this.#settle(thread, { error: new TaskFailed("The process of the thread ended."), kill: true });
  }

  /** Ends the thread's task. `usedMs`: the processor time of the task, if the thread told it. */
  #settle(thread: Thread<Input, Output>, outcome: Outcome<Output>, usedMs?: number): void {
    const task = thread.task;
    if (task !== undefined) this.#restAfter(performance.now() - thread.sinceMs, usedMs);
    thread.task = undefined;
    if (task !== undefined) this.#waiting.done(task);
    clearTimeout(thread.timer);
    thread.done++;
    if (("kill" in outcome && outcome.kill) || thread.done >= (this.#options.tasksMax ?? TASKS_PER_THREAD_MAX))
      this.#retire(thread);
    else thread.idle = limit(this.#options.idleMs ?? IDLE_MS, () => this.#retire(thread));
    if ("output" in outcome) task?.resolve(outcome.output);
    else task?.reject(outcome.error);
    this.#pump();
  }

  #restAfter(tookMs: number, usedMs = tookMs): void {
    const restMs = this.#isClosed ? 0 : restMsAfter({ tookMs, usedMs, share: this.#most });
    if (restMs === 0) return;
    this.#rest?.cancel();
    this.#rest = lone(restMs, () => {
      this.#rest = undefined;
      this.#pump();
    });
  }

  #abandon(task: Task<Input, Output>, reason: unknown): void {
    if (this.#waiting.remove(task)) {
      task.reject(reason);
      return;
    }
    const thread = [...this.#threads].find((candidate) => candidate.task === task);
    if (thread !== undefined) this.#settle(thread, { error: reason, kill: true });
  }

  #retire(thread: Thread<Input, Output>): void {
    this.#threads.delete(thread);
    clearTimeout(thread.timer);
    thread.idle?.cancel();
    thread.worker.terminate();
  }
}

/**
 * The task with copies of its parts of larger buffers. A part is sent to a thread or a process with the whole buffer around it, which
 * may belong to others.
 */
function withoutRest<Input>(input: Input): Input {
  if (!isRecord(input)) return input;
  let copied: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(input)) {
    if (!(value instanceof Uint8Array) || value.byteLength === value.buffer.byteLength) continue;
    copied ??= { ...input };
    copied[name] = new Uint8Array(value);
  }
  return (copied ?? input) as Input;
}
