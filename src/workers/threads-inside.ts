// The process in which threads run, at a low priority. The work itself is done in its threads, so that this loop always notices
// when the program is gone, or when the threads use too much memory.

import { deserialize } from "bun:jsc";
import { COMMIT, VERSION } from "../base/version.ts";
import { lowerProcess } from "./priority.ts";
import type { FromProcess, ToProcess } from "./process-words.ts";
import { startThread } from "./start.ts";

const [niceness = 0, memoryMax = 0] = process.argv.slice(-2).map(Number);
/** The interval between two checks of the memory, which can grow meanwhile. */
const WATCH_MS = 50;

const threads = new Map<number, Worker>();
const pieces = new Map<number, Uint8Array[]>();
const send = (message: FromProcess) => process.send?.(message);

function start(id: number, path: string, url: string): void {
  const thread = startThread(path, new URL(url), niceness);
  thread.onmessage = ({ data }: MessageEvent) => send({ from: id, data });
  thread.onerror = ({ message }) => send({ failed: id, message });
  threads.set(id, thread);
}

function receive({ to: id, piece, isLast, isPacked, task }: Extract<ToProcess, { to: number }>): void {
  const all = pieces.get(id) ?? [];
  all.push(piece);
  if (!isLast) {
    pieces.set(id, all);
    return;
  }
  pieces.delete(id);
  const whole = Buffer.concat(all);
  const bytes = isPacked ? Bun.zstdDecompressSync(whole) : whole;
  if (task === undefined) {
    threads.get(id)?.postMessage(deserialize(bytes));
    return;
  }
  const isAlone = bytes.byteLength === bytes.buffer.byteLength;
  const body = isAlone ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes);
  const { message, input, member } = task;
  threads.get(id)?.postMessage({ ...message, input: { ...input, [member]: body } }, [body.buffer as ArrayBuffer]);
}

process.on("message", (message: ToProcess) => {
  if ("start" in message) start(message.start, message.path, message.url);
  else if ("to" in message) receive(message);
  else {
    threads.get(message.end)?.terminate();
    threads.delete(message.end);
    pieces.delete(message.end);
  }
});
process.on("disconnect", () => process.exit(0));
// Signals to the whole group are for the program, which finishes its jobs first.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
setInterval(() => {
  if (process.memoryUsage.rss() > memoryMax) process.exit(1);
}, WATCH_MS);
lowerProcess(process.pid, niceness);
send({ ready: `${VERSION} ${COMMIT}` });
// The program that this one was started as must not continue.
await new Promise(() => {});
