// Writes log text to a file descriptor without ever blocking the event loop or failing: one write is in progress at a time,
// the queue is bounded and the surplus is counted and dropped, and writing stops for good when the reader is gone.

import { write as writeFile } from "node:fs";
import { entryOf } from "../base/json-object.ts";

/** The two functions that a logger needs from a sink; spread it into the logger's options. */
export interface LogSink {
  /** Takes whole lines. Never blocks, never throws. */
  write(text: string): void;
  /** Resolves when the queue is empty; after `DRAIN_MS_MAX` in any case. */
  drain(): Promise<void>;
}

/** About ten thousand lines: the queue for a slow reader. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;
/** The delay before a write is retried, for failures that may pass: a descriptor that is not ready, and a disk that is full. */
const RETRY_MS: Readonly<Record<string, number>> = { EAGAIN: 10, EINTR: 10, ENOSPC: 1000, EDQUOT: 1000 };
/** The limit of waiting for a stalled reader when the program ends. */
const DRAIN_MS_MAX = 1000;

/** A function like `fs.write`, which may write less than it was given. */
export type WriteBytes = (bytes: Uint8Array, done: (error: { code?: string } | null, written: number) => void) => void;

/** A sink on an open descriptor (2: standard error). */
export function descriptorSink(descriptor: number): LogSink {
  return bytesSink((bytes, done) => writeFile(descriptor, bytes, 0, bytes.length, null, done));
}

/** A sink on any such function. */
export function bytesSink(writeBytes: WriteBytes): LogSink {
  const encoder = new TextEncoder();
  let waiting: string[] = [];
  let waitingBytes = 0;
  let droppedLines = 0;
  let busy = false;
  let gone = false;
  let idle: (() => void)[] = [];

  const rest = () => {
    busy = false;
    const waiters = idle;
    idle = [];
    for (const resolve of waiters) resolve();
  };

  const next = () => {
    if (droppedLines > 0) {
      const notice = `{"level":"warn","msg":"log lines dropped: too many waited","lines":${droppedLines}}\n`;
      waiting.push(notice);
      waitingBytes += notice.length;
      droppedLines = 0;
    }
    if (waiting.length === 0 || gone) return rest();
    busy = true;
    const bytes = encoder.encode(waiting.join(""));
    waiting = [];
    send(bytes);
  };

  const send = (bytes: Uint8Array) => {
    writeBytes(bytes, (error, written) => {
      if (error === null) {
        waitingBytes -= written;
        return written < bytes.length ? send(bytes.subarray(written)) : next();
      }
      const again = entryOf(RETRY_MS, error.code ?? "");
      if (again !== undefined) return void setTimeout(send, again, bytes);
      // EPIPE and similar errors: there is no reader, and nobody to whom this could be reported.
      gone = true;
      waiting = [];
      rest();
    });
  };

  return {
    write(text) {
      if (gone) return;
      const bytes = Buffer.byteLength(text);
      if (waitingBytes + bytes > WAITING_BYTES_MAX) {
        droppedLines += text.split("\n").length - 1;
        return;
      }
      waiting.push(text);
      waitingBytes += bytes;
      if (!busy) next();
    },
    drain() {
      if (!busy) return Promise.resolve();
      return new Promise((resolve) => {
        const limit = setTimeout(resolve, DRAIN_MS_MAX);
        idle.push(() => {
          clearTimeout(limit);
          resolve();
        });
      });
    },
  };
}
