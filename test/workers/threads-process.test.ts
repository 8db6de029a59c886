import { afterEach, expect, spyOn, test } from "bun:test";
import { readFileSync } from "node:fs";
import { COMMIT, VERSION } from "../../src/base/version.ts";
import { answerStore } from "../../src/store/work/answers.ts";
import { createPool, TaskFailed, TaskTimeout, type WorkerPool } from "../../src/workers/pool.ts";
import { BEHIND } from "../../src/workers/priority.ts";
import { startThread } from "../../src/workers/start.ts";
import { createThreadsProcess, type ThreadsProcess } from "../../src/workers/threads-process.ts";
import { freshStore } from "../store/support.ts";
import { digestOf } from "../support/digest.ts";
import type { WorkerTask } from "../support/task-worker.ts";

const WORKER = new URL("../support/task-worker.ts", import.meta.url);
const MEBIBYTE = 1024 * 1024;
const TIME = { account: "one", timeoutMs: 60_000 };

let inside: ThreadsProcess;
let pool: WorkerPool<WorkerTask, number>;
const pids = new Set<number>();

function open(options: { command?: readonly string[]; memoryMax?: number; idleMs?: number; lingerMs?: number } = {}) {
  const { idleMs, ...others } = options;
  inside = createThreadsProcess({ niceness: BEHIND, memoryMax: 2048 * MEBIBYTE, ...others });
  pids.clear();
  const start = () => {
    const thread = inside.start("", WORKER);
    const pid = inside.pid();
    if (pid !== undefined) pids.add(pid);
    return thread;
  };
  pool = createPool({ start, size: 1, ...(idleMs === undefined ? {} : { idleMs }) });
}
afterEach(() => {
  pool.close();
  inside.close();
});

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Resolves when the process is gone; the test's time limit ends the wait. */
async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await Bun.sleep(10);
}

test("tasks run in another process, which starts with the first and is used again", async () => {
  open();
  expect(inside.pid()).toBeUndefined();
  const first = await pool.run({ what: "pid" }, TIME);
  expect(first).toBe(inside.pid() as number);
  expect(await pool.run({ what: "pid" }, TIME)).toBe(first);
  if (process.platform === "linux") expect(await pool.run({ what: "priority" }, TIME)).toBe(BEHIND);
});

test.if(process.platform === "linux")("the environment of the process has options of the runtime alone", async () => {
  open();
  const pid = await pool.run({ what: "pid" }, TIME);
  const all = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
  const ours = all.filter((one) => !one.startsWith("NODE_CHANNEL_"));
  expect(ours).toEqual(["BUN_JSC_thresholdForFTLOptimizeAfterWarmUp=640000"]);
});

/** Bytes in which nothing repeats, so that they cannot be compressed. */
const NOISE = new Uint8Array(MEBIBYTE);
for (let index = 0, state = 1; index < NOISE.length; index++) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  NOISE[index] = state >>> 24;
}
const TEXT = new Uint8Array(MEBIBYTE).map((_, index) => index % 251);

test("a large task arrives whole, compressed or in pieces between which the event loop goes on", async () => {
  open();
  await pool.run({ what: "echo" }, TIME);
  expect(digestOf(TEXT)).toBe(252387);
  for (const bytes of [TEXT, NOISE]) {
    expect(await pool.run({ what: "digest", bytes }, TIME)).toBe(digestOf(bytes));
    expect(bytes.byteLength).toBe(MEBIBYTE);
  }
});

/** A program that answers each task with the number of bytes that it was sent, with all memory that came along. */
const COUNTING = `
  let id = 0, sent = 0;
  process.on("message", (message) => {
    if (!("to" in message)) return;
    sent += message.piece.buffer.byteLength;
    if (!message.isLast) return;
    process.send({ from: message.to, data: { id: ++id, output: sent } });
    sent = 0;
  });
  process.send({ ready: ${JSON.stringify(`${VERSION} ${COMMIT}`)} });
`;

test("each part of a large task is sent once, and what can be compressed in fewer bytes", async () => {
  open({ command: [process.execPath, "-e", COUNTING] });
  expect(await pool.run({ what: "echo" }, TIME)).toBeGreaterThan(0);
  expect(await pool.run({ what: "digest", bytes: TEXT }, TIME)).toBeLessThan(TEXT.byteLength / 10);
  const sent = await pool.run({ what: "digest", bytes: NOISE }, TIME);
  expect(sent).toBeGreaterThan(NOISE.byteLength * 0.9);
  expect(sent).toBeLessThan(NOISE.byteLength * 1.1);
});

test("a page that was compressed when it was stored is sent as it was stored", async () => {
  open();
  const { store } = freshStore();
  await pool.run({ what: "echo" }, TIME);
  const compress = spyOn(Bun, "zstdCompress");
  try {
    const body = TEXT.slice();
    const page = { asked: "u", url: "u", status: 200, headers: new Headers(), body };
    await answerStore(store).keepAnswer({ id: "job", lease: "held" }, "u", page);
    expect(await pool.run({ what: "digest", bytes: body }, TIME)).toBe(digestOf(TEXT));
    expect(compress).toHaveBeenCalledTimes(1);
  } finally {
    compress.mockRestore();
  }
});

test("a part of a larger buffer is sent alone, to threads of any kind", async () => {
  open();
  const own: typeof pool = createPool({ start: () => startThread("", WORKER), size: 1 });
  try {
    for (const one of [pool, own])
      for (const size of [100, 100_000])
        expect(await one.run({ what: "memory", bytes: NOISE.subarray(500, 500 + size) }, TIME)).toBe(size);
  } finally {
    own.close();
  }
});

test("a task that throws fails alone, and one that does not end is stopped at its deadline", async () => {
  open();
  await expect(pool.run({ what: "throw" }, TIME)).rejects.toThrow(TaskFailed);
  await expect(pool.run({ what: "loop" }, { ...TIME, timeoutMs: 50 })).rejects.toThrow(TaskTimeout);
  expect(await pool.run({ what: "echo", value: 3 }, TIME)).toBe(3);
  expect(pids.size).toBe(1);
});

test("a task whose process was killed is done again", async () => {
  open();
  const answer = pool.run({ what: "echo", value: 4 }, TIME);
  process.kill(inside.pid() as number, "SIGKILL");
  expect(await answer).toBe(4);
  expect(pids.size).toBe(2);
});

test.each([
  ["that ends its process", { what: "kill" }, {}],
  ["that needs too much memory", { what: "fill", value: 600 }, { memoryMax: 350 * MEBIBYTE }],
] as const)("a task %s fails after a few attempts, and others go on", async (_name, task, limits) => {
  open(limits);
  const failing = pool.run(task, TIME);
  const next = pool.run({ what: "echo", value: 5 }, TIME);
  await expect(failing).rejects.toThrow(TaskFailed);
  expect(await next).toBe(5);
  expect(pids.size).toBe(3);
});

test.each([
  ["does not exist", ["/nonexistent/program"]],
  ["ends at once", ["false"]],
  ["is another version", [process.execPath, "-e", 'process.send({ ready: "0.0.0" }); setInterval(() => {}, 1000)']],
])("if the program %s, the tasks run in this process", async (_name, command) => {
  open({ command });
  expect(await pool.run({ what: "pid" }, TIME)).toBe(process.pid);
  expect(pids.size).toBeLessThanOrEqual(2);
});

test("the process ends when its last thread has been idle, and the next task gets another", async () => {
  open({ idleMs: 20, lingerMs: 20 });
  const first = await pool.run({ what: "pid" }, TIME);
  await gone(first);
  expect(inside.pid()).toBeUndefined();
  expect(await pool.run({ what: "pid" }, TIME)).not.toBe(first);
});

test("the process ends when it is closed", async () => {
  open();
  const pid = await pool.run({ what: "pid" }, TIME);
  pool.close();
  inside.close();
  await gone(pid);
});

test("the process ends with a program that is killed, whatever its threads do, and ignores signals to the group", async () => {
  const script = `
    import { createThreadsProcess } from ${JSON.stringify(new URL("../../src/workers/threads-process.ts", import.meta.url).href)};
    const inside = createThreadsProcess({ niceness: 10, memoryMax: 1e10 });
    const thread = inside.start("", new URL(${JSON.stringify(WORKER.href)}));
    thread.onmessage = () => {
      thread.postMessage({ id: 2, input: { what: "loop" } });
      console.log(inside.pid());
    };
    thread.postMessage({ id: 1, input: { what: "echo" } });
    setInterval(() => {}, 1000);`;
  const program = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  const { value } = await program.stdout.getReader().read();
  const pid = Number(new TextDecoder().decode(value));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.kill(pid, signal);
  expect(isAlive(pid)).toBe(true);
  program.kill("SIGKILL");
  await gone(pid);
});
