import { afterEach, expect, test } from "bun:test";
import {
  createPool,
  PoolFull,
  type PoolThread,
  restMsAfter,
  TaskFailed,
  TaskTimeout,
  type WorkerPool,
} from "../../src/workers/pool.ts";
import { BEHIND, LAST, lowerProcess } from "../../src/workers/priority.ts";
import type { TaskAnswer, TaskMessage } from "../../src/workers/serve.ts";
import { startThread } from "../../src/workers/start.ts";
import type { WorkerTask } from "../support/task-worker.ts";

type Task = { what: string; value?: number };
let started = 0;
let pool: WorkerPool<Task, number>;
let ended: Promise<unknown>;
const open = (
  size: number | (() => number),
  limits: { queueMax?: number; weightMax?: number; idleMs?: number; tasksMax?: number } = {},
) => {
  started = 0;
  const start = () => {
    started++;
    const worker = new Worker(new URL("../support/task-worker.ts", import.meta.url).href);
    ended = new Promise((resolve) => worker.addEventListener("close", resolve));
    return worker;
  };
  pool = createPool({ start, size, weigh: ({ value = 0 }) => value, ...limits });
};
afterEach(() => pool.close());
const OWN = { account: "one" };
const TIME = { ...OWN, timeoutMs: 10_000 };

test("tasks are answered, threads are reused", async () => {
  open(2);
  const answers = await Promise.all(Array.from({ length: 20 }, (_, value) => pool.run({ what: "echo", value }, TIME)));
  expect(answers).toEqual(Array.from({ length: 20 }, (_, value) => value));
  expect(started).toBeLessThanOrEqual(2);
});

test("a task that throws fails alone", async () => {
  open(1);
  await expect(pool.run({ what: "throw" }, TIME)).rejects.toThrow(TaskFailed);
  expect(await pool.run({ what: "echo", value: 1 }, TIME)).toBe(1);
  expect(started).toBe(1);
});

test("a runaway task is killed at its deadline, and the next one gets a new thread", async () => {
  open(1);
  const runaway = pool.run({ what: "loop" }, { ...OWN, timeoutMs: 50 });
  const next = pool.run({ what: "echo", value: 7 }, TIME);
  await expect(runaway).rejects.toThrow(TaskTimeout);
  expect(await next).toBe(7);
  expect(started).toBe(2);
});

test("an aborted task frees its thread; an aborted waiting task never runs", async () => {
  open(1);
  const stop = new AbortController();
  const running = pool.run({ what: "loop" }, { ...TIME, signal: stop.signal });
  const waiting = pool.run({ what: "loop" }, { ...TIME, signal: stop.signal });
  const outcomes = Promise.allSettled([running, waiting]);
  stop.abort(new Error("gone"));
  expect((await outcomes).map((outcome) => (outcome as { reason?: Error }).reason?.message)).toEqual(["gone", "gone"]);
  expect(await pool.run({ what: "echo", value: 2 }, TIME)).toBe(2);
});

test("the number of tasks at the same time may change from task to task", async () => {
  let size = 2;
  open(() => size);
  for (const [now, load] of [
    [2, { running: 2, waiting: 1 }],
    [1, { running: 1, waiting: 2 }],
    [2, { running: 2, waiting: 1 }],
  ] as const) {
    size = now;
    const abort = new AbortController();
    const tasks = [1, 2, 3].map(() => pool.run({ what: "loop" }, { ...TIME, signal: abort.signal }));
    expect(pool.load()).toEqual(load);
    abort.abort(new Error("stop"));
    for (const { status } of await Promise.allSettled(tasks)) expect(status).toBe("rejected");
    const values = await Promise.all([4, 5].map((value) => pool.run({ what: "echo", value }, TIME)));
    expect(values).toEqual([4, 5]);
  }
});

test("the queue is bounded", async () => {
  open(1, { queueMax: 1 });
  const first = pool.run({ what: "loop" }, { ...OWN, timeoutMs: 100 }).catch(() => "stopped");
  const second = pool.run({ what: "echo", value: 3 }, TIME);
  await expect(pool.run({ what: "echo" }, TIME)).rejects.toThrow(PoolFull);
  expect(await first).toBe("stopped");
  expect(await second).toBe(3);
});

test("waiting tasks may hold only so much together, but one always may", async () => {
  open(1, { weightMax: 10 });
  const first = pool.run({ what: "loop" }, { ...OWN, timeoutMs: 100 }).catch(() => "stopped");
  const second = pool.run({ what: "echo", value: 11 }, TIME);
  await expect(pool.run({ what: "echo", value: 1 }, TIME)).rejects.toThrow(PoolFull);
  expect(pool.load()).toEqual({ running: 1, waiting: 1 });
  expect([await first, await second]).toEqual(["stopped", 11]);
  expect(pool.load()).toEqual({ running: 0, waiting: 0 });
});

test("a task without a waiting caller is not refused because of the memory of others", async () => {
  open(1, { weightMax: 10 });
  const first = pool.run({ what: "loop" }, { ...OWN, timeoutMs: 100 }).catch(() => "stopped");
  const all = [11, 12, 13].map((value) => pool.run({ what: "echo", value }, { ...TIME, later: true }));
  await expect(pool.run({ what: "echo", value: 1 }, TIME)).rejects.toThrow(PoolFull);
  expect([await first, ...(await Promise.all(all))]).toEqual(["stopped", 11, 12, 13]);
});

test("tasks with a waiting caller come first", async () => {
  open(1);
  const order: number[] = [];
  const run = (value: number, later: boolean) =>
    pool.run({ what: "echo", value }, { ...TIME, later }).then((answer) => order.push(answer));
  await Promise.all([run(1, true), run(2, true), run(3, true), run(4, false), run(5, false)]);
  expect(order).toEqual([1, 4, 5, 2, 3]);
});

test("accounts take turns, so that one task waits for one of another account at most", async () => {
  open(1);
  const order: string[] = [];
  const run = (account: string, value: number) =>
    pool.run({ what: "echo", value }, { ...TIME, account }).then((answer) => order.push(`${account}${answer}`));
  const numbers = Array.from({ length: 20 }, (_, index) => index);
  const many = numbers.map((value) => run("a", value));
  await Promise.all([...many, run("b", 0), run("b", 1), run("c", 0)]);
  expect(order.slice(0, 7)).toEqual(["a0", "b0", "c0", "a1", "b1", "a2", "a3"]);
});

test("an account that uses a thread comes after one that uses none", async () => {
  open(2);
  const loops = Array.from({ length: 3 }, () =>
    pool.run({ what: "loop" }, { account: "a", timeoutMs: 200 }).catch(() => "stopped"),
  );
  const stop = new AbortController();
  const other = pool.run({ what: "loop" }, { account: "b", timeoutMs: 10_000, signal: stop.signal });
  expect(await pool.run({ what: "echo", value: 1 }, { ...TIME, account: "c" })).toBe(1);
  stop.abort(new Error("enough"));
  await expect(other).rejects.toThrow("enough");
  expect(await Promise.all(loops)).toEqual(["stopped", "stopped", "stopped"]);
});

test("no account can fill the queue or its memory", async () => {
  open(1, { queueMax: 4, weightMax: 10 });
  const run = (account: string, value: number) => pool.run({ what: "echo", value }, { ...TIME, account });
  const first = pool.run({ what: "loop" }, { ...OWN, timeoutMs: 100 }).catch(() => "stopped");
  const waiting = [run("a", 2), run("a", 3)];
  await expect(run("a", 0)).rejects.toThrow(PoolFull);
  waiting.push(run("b", 1));
  // Half of the memory is the most for one account.
  await expect(run("b", 5)).rejects.toThrow(PoolFull);
  waiting.push(run("c", 4));
  await expect(run("d", 0)).rejects.toThrow(PoolFull);
  expect([await first, ...(await Promise.all(waiting))]).toEqual(["stopped", 2, 3, 1, 4]);
});

test("a thread that has had nothing to do for a while ends, and the next task gets another", async () => {
  open(1, { idleMs: 50 });
  expect(await pool.run({ what: "echo", value: 1 }, TIME)).toBe(1);
  await ended;
  expect(await pool.run({ what: "echo", value: 2 }, TIME)).toBe(2);
  expect(started).toBe(2);
});

test("a thread is replaced after as many tasks as it is allowed", async () => {
  open(1, { tasksMax: 2 });
  for (const value of [1, 2, 3, 4, 5]) expect(await pool.run({ what: "echo", value }, TIME)).toBe(value);
  expect(started).toBe(3);
});

test("closing fails the remaining tasks", async () => {
  open(1);
  const running = pool.run({ what: "loop" }, TIME);
  const waiting = pool.run({ what: "echo" }, TIME);
  const outcomes = Promise.allSettled([running, waiting]);
  pool.close();
  for (const outcome of await outcomes) expect((outcome as { reason?: unknown }).reason).toBeInstanceOf(TaskFailed);
  await expect(pool.run({ what: "echo" }, TIME)).rejects.toThrow(TaskFailed);
});

test.skipIf(process.platform !== "linux")(
  "threads come after the event loop, by as much as they are told",
  async () => {
    open(1);
    expect(await pool.run({ what: "priority" }, TIME)).toBe(BEHIND);
    const url = new URL("../support/task-worker.ts", import.meta.url);
    const last = createPool<Task, number>({ start: () => startThread("", url, LAST), size: 1 });
    expect(await last.run({ what: "priority" }, TIME)).toBe(LAST);
    last.close();
  },
);

test("a process that has ended needs no priority", async () => {
  const child = Bun.spawn(["true"]);
  await child.exited;
  lowerProcess(child.pid, LAST);
});

/** A thread that answers when it is told to. */
class ToldThread implements PoolThread {
  onmessage: PoolThread["onmessage"] = null;
  onerror: PoolThread["onerror"] = null;
  given: TaskMessage<Task>[] = [];
  postMessage(message: unknown): void {
    this.given.push(message as TaskMessage<Task>);
  }
  answer(usedMs: number): void {
    const data = { id: this.given.at(-1)?.id, output: 1, usedMs };
    this.onmessage?.({ data } as MessageEvent);
  }
  terminate(): void {}
}

test("a pool that works for a part of the time rests after a task, until it may work again or the rest is over", async () => {
  let share = 0.2;
  const thread = new ToldThread();
  pool = createPool({ start: () => thread, size: () => share });
  const runs = Array.from({ length: 4 }, () => pool.run({ what: "echo" }, TIME));
  expect(thread.given.length).toBe(1);
  thread.answer(60_000);
  await runs[0];
  const more = pool.run({ what: "echo" }, TIME);
  expect(thread.given.length).toBe(1);
  // The work that it left the processor to is over.
  share = 1;
  const last = pool.run({ what: "echo" }, TIME);
  expect(thread.given.length).toBe(2);
  thread.answer(60_000);
  expect(thread.given.length).toBe(3);
  share = 0.2;
  // A task that hardly used a processor is followed by no rest.
  thread.answer(0);
  expect(thread.given.length).toBe(4);
  thread.answer(60_000);
  expect(thread.given.length).toBe(4);
  while (thread.given.length < 5) await new Promise((resolve) => setImmediate(resolve));
  share = 1;
  thread.answer(0);
  thread.answer(0);
  await Promise.all([...runs, more, last]);
});

test.each([
  ["a whole processor", { tookMs: 40, usedMs: 40, share: 1 }, 0],
  ["a fifth of one", { tookMs: 40, usedMs: 40, share: 0.2 }, 160],
  ["a fifth, of which the task got half", { tookMs: 40, usedMs: 20, share: 0.2 }, 60],
  ["a fifth, of which the task got less", { tookMs: 40, usedMs: 5, share: 0.2 }, 0],
  ["a long task", { tookMs: 9000, usedMs: 9000, share: 0.2 }, 1000],
])("the rest after a task that may use %s", (_, task, restMs) => {
  expect(restMsAfter(task)).toBe(restMs);
});

test("a thread tells the processor time of its tasks, not the time that they take", async () => {
  const worker = new Worker(new URL("../support/task-worker.ts", import.meta.url).href);
  const told = async (value: number, what: WorkerTask["what"]) => {
    const { promise, resolve } = Promise.withResolvers<TaskAnswer<number>>();
    worker.onmessage = ({ data }: MessageEvent<TaskAnswer<number>>) => resolve(data);
    worker.postMessage({ id: 1, input: { what, value } });
    return (await promise).usedMs;
  };
  try {
    const [waiting, working] = [await told(100, "wait"), await told(100, "work")];
    expect(working).toBeGreaterThanOrEqual(99);
    expect(waiting).toBeLessThan(working);
  } finally {
    worker.terminate();
  }
});
