// Threads in a process of their own, for work that may wait. In a thread of this process such work would slow down the event loop,
// even at a low priority: the runtime's compilers and collectors are shared by all threads of a process, and have the priority of
// the event loop. The process starts with its first thread and ends after its last one.

import { serialize } from "bun:jsc";
import { isRecord } from "../base/json-object.ts";
import { type Limit, limit } from "../base/limit.ts";
import { packed } from "../base/packed.ts";
import { COMMIT, VERSION } from "../base/version.ts";
import type { PoolThread } from "./pool.ts";
import { LAST, lowerProcess } from "./priority.ts";
import { type BodilessTask, type FromProcess, THREADS_PROCESS_WORD, type ToProcess } from "./process-words.ts";
import { processCommand, startThread } from "./start.ts";

/** A process in which threads run. */
export interface ThreadsProcess {
  /** Starts a thread, and the process if it does not run. The parameters are those of `startThread`. */
  start(path: string, url: URL): PoolThread;
  /** The id of the process; undefined if it does not run. */
  pid(): number | undefined;
  /** Ends the process. */
  close(): void;
}

/** Options. */
export interface ThreadsProcessOptions {
  readonly niceness: number;
  /** The process ends if it uses more memory. Its threads are lost. */
  readonly memoryMax: number;
  /** How long the process stays without threads. */
  readonly lingerMs?: number;
  /** The command that starts the process, for tests. */
  readonly command?: readonly string[];
}

/** A task is sent in pieces of this size, between which the event loop goes on. */
const PIECE_BYTES = 256 * 1024;
/** A thread that was killed is often replaced at once, so the process stays for this long without threads. */
const LINGER_MS = 5000;
/**
 * Options of the process's runtime. With its default, the compiler for the hottest code took more time than it saved within the
 * first hundreds of pages: this one compiles only what runs ten times as often, and a page cost a quarter less.
 */
const RUNTIME_OPTIONS = { BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: "640000" };
/**
 * Larger tasks are compressed first, in a thread of the runtime: the event loop sends a page in a fraction of the time, and the
 * process reads it in less. Pages of jobs were compressed when they were stored.
 */
const PACKED_BYTES_MIN = 32 * 1024;
/** If the process ends so often before it is ready, threads run in this process instead. */
const FAILED_STARTS_MAX = 2;

/** Creates the process, which starts later. */
export function createThreadsProcess(options: ThreadsProcessOptions): ThreadsProcess {
  const inside = new Inside(options);
  return {
    start: (path, url) => inside.start(path, url) ?? startThread(path, url, LAST),
    pid: () => inside.pid,
    close: () => inside.close(),
  };
}

class Inside {
  readonly #options: ThreadsProcessOptions;
  readonly #threads = new Map<number, DistantThread>();
  #child: Bun.Subprocess<"ignore", "ignore", "ignore"> | undefined;
  #isReady = false;
  #failedStarts = 0;
  #lastId = 0;
  #lingering: Limit | undefined;

  constructor(options: ThreadsProcessOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Undefined if the process cannot be started. */
  start(path: string, url: URL): PoolThread | undefined {
    if (this.#failedStarts >= FAILED_STARTS_MAX || !this.#open()) return undefined;
    this.#lingering?.cancel();
    const id = ++this.#lastId;
    const thread = new DistantThread(id, {
      send: (message) => this.#send(message),
      ended: () => this.#forget(id),
    });
    this.#threads.set(id, thread);
    this.#send({ start: id, path, url: url.href });
    return thread;
  }

  close(): void {
    this.#lingering?.cancel();
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  #open(): boolean {
    if (this.#child !== undefined) return true;
    const { niceness, memoryMax, command } = this.#options;
    const words = command ?? processCommand(THREADS_PROCESS_WORD, new URL("./threads-inside.ts", import.meta.url));
    try {
      const child = Bun.spawn([...words, String(niceness), String(memoryMax)], {
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
        // The process gets no environment variables of the gateway.
        env: RUNTIME_OPTIONS,
        serialization: "advanced",
        ipc: (message: FromProcess) => this.#hear(message),
        onExit: (ended) => {
          if (this.#child === ended) this.#lose();
        },
      });
      lowerProcess(child.pid, niceness);
      // It must not keep the program alive, and ends with it.
      child.unref();
      this.#child = child;
      this.#isReady = false;
      return true;
    } catch {
      // For example if the program's file is gone or the system has no more processes.
      this.#failedStarts++;
      return false;
    }
  }

  #send(message: ToProcess): void {
    try {
      this.#child?.send(message);
    } catch {
      // The process has ended; its end is noticed separately.
    }
  }

  #hear(message: FromProcess): void {
    if ("ready" in message) {
      this.#isReady = message.ready === `${VERSION} ${COMMIT}`;
      // Another version might answer differently.
      if (this.#isReady) this.#failedStarts = 0;
      else this.#child?.kill("SIGKILL");
    } else if ("from" in message) this.#threads.get(message.from)?.onmessage?.({ data: message.data } as MessageEvent);
    else this.#threads.get(message.failed)?.onerror?.({ message: message.message } as ErrorEvent);
  }

  /** The process has ended. */
  #lose(): void {
    this.#child = undefined;
    if (!this.#isReady) this.#failedStarts++;
    const lost = [...this.#threads.values()];
    this.#threads.clear();
    for (const thread of lost) thread.onlost?.();
  }

  #forget(id: number): void {
    if (!this.#threads.delete(id)) return;
    this.#send({ end: id });
    if (this.#threads.size === 0) this.#lingering = limit(this.#options.lingerMs ?? LINGER_MS, () => this.close());
  }
}

/** A thread in the process. */
class DistantThread implements PoolThread {
  onmessage: PoolThread["onmessage"] = null;
  onerror: PoolThread["onerror"] = null;
  onlost: (() => void) | null = null;
  readonly #id: number;
  readonly #way: { send(message: ToProcess): void; ended(): void };
  #hasEnded = false;

  constructor(id: number, way: { send(message: ToProcess): void; ended(): void }) {
    this.#id = id;
    this.#way = way;
  }

  postMessage(message: unknown): void {
    const task = bodilessTask(message);
    const bytes = task?.body ?? serialize(message, { binaryType: "nodebuffer" });
    const rest = task && { message: task.message, input: task.input, member: task.member };
    if (bytes.byteLength < PACKED_BYTES_MIN) this.#sendFrom(bytes, { at: 0, isPacked: false, task: rest });
    else
      packed(bytes).then(
        (small) => this.#sendFrom(small, { at: 0, isPacked: true, task: rest }),
        () => this.#sendFrom(bytes, { at: 0, isPacked: false, task: rest }),
      );
  }

  terminate(): void {
    this.#hasEnded = true;
    this.#way.ended();
  }

  #sendFrom(bytes: Uint8Array, { at, isPacked, task }: Sending): void {
    if (this.#hasEnded) return;
    const end = at + PIECE_BYTES;
    const isLast = end >= bytes.byteLength;
    // A copy, as a view would be sent with all of its memory.
    const piece = new Uint8Array(bytes.subarray(at, end));
    this.#way.send({ to: this.#id, piece, isLast, isPacked, task: isLast ? task : undefined });
    if (!isLast) setImmediate(() => this.#sendFrom(bytes, { at: end, isPacked, task }));
  }
}

interface Sending {
  readonly at: number;
  readonly isPacked: boolean;
  readonly task: BodilessTask | undefined;
}

/** A task whose large body is sent as it is, since serializing it would copy it twice; undefined if there is none. */
function bodilessTask(message: unknown): (BodilessTask & { readonly body: Uint8Array }) | undefined {
  if (!isRecord(message) || !isRecord(message["input"])) return undefined;
  const { input: whole, ...rest } = message;
  for (const [member, body] of Object.entries(whole)) {
    if (!(body instanceof Uint8Array) || body.byteLength < PACKED_BYTES_MIN) continue;
    const { [member]: _body, ...input } = whole;
    return { message: rest, input, member, body };
  }
  return undefined;
}
