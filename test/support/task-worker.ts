// A worker thread for tests of the pool: it echoes, throws, waits, works, loops forever, or stops itself or its process.

import { getPriority } from "node:os";
import { serveTasks } from "../../src/workers/serve.ts";
import { digestOf } from "./digest.ts";

/** A task of this worker. */
export interface WorkerTask {
  readonly what:
    | "wait"
    | "work"
    | "echo"
    | "throw"
    | "loop"
    | "exit"
    | "priority"
    | "pid"
    | "kill"
    | "fill"
    | "digest"
    | "memory";
  readonly value?: number;
  readonly bytes?: Uint8Array;
}

const MEBIBYTE = 1024 * 1024;

serveTasks<WorkerTask, number>((task) => {
  if (task.what === "throw") throw new Error("broken");
  if (task.what === "exit") process.exit(3);
  if (task.what === "priority") return getPriority(0);
  if (task.what === "pid") return process.pid;
  if (task.what === "kill") process.kill(process.pid, "SIGKILL");
  if (task.what === "fill") return fill(task.value ?? 0);
  if (task.what === "digest") return digestOf(task.bytes ?? new Uint8Array(0));
  if (task.what === "memory") return task.bytes?.buffer.byteLength ?? 0;
  if (task.what === "wait") Bun.sleepSync(task.value ?? 0);
  if (task.what === "work") work(task.value ?? 0);
  if (task.what === "loop") for (;;) if (Math.random() > 2) break;
  return task.value ?? 0;
});

/** Fills memory, slowly enough to be stopped. */
function fill(mebibytes: number): number {
  const all: Uint8Array[] = [];
  for (let index = 0; index < mebibytes; index++) {
    all.push(new Uint8Array(MEBIBYTE).fill(1));
    Bun.sleepSync(1);
  }
  return all.length;
}

/** Uses a processor for that long. */
function work(ms: number): void {
  const startMs = usedMs();
  while (usedMs() < startMs + ms) Math.sqrt(startMs);
}

function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
