// The process's own streams for commands.

import { writeSync } from "node:fs";
import type { Io } from "./command.ts";
import { CommandError } from "./failure.ts";

/** What a command may read from stdin: passwords and small documents. */
const STDIN_BYTES_MAX = 1024 * 1024;

/** The default for a terminal that does not report its width. */
const COLUMNS = 80;
/** The exit code that shells use for a program ended by Ctrl-C. */
const INTERRUPTED_CODE = 130;
/** How long to wait before writing to a full non-blocking pipe again. */
const PIPE_WAIT_MS = 2;

/** Reads and writes the process's stdin, stdout and stderr. */
export function processIo(): Io {
  return {
    out: (text) => writeAll(1, text),
    err: (text) => writeAll(2, text),
    readStdin,
    streams: () => ({ input: process.stdin, output: process.stdout }),
    ask,
    // The process's streams are made when they are asked for: a server never does.
    get interactive() {
      return process.stdin.isTTY === true && process.stderr.isTTY === true;
    },
    get columns() {
      return process.stderr.isTTY === true ? process.stderr.columns || COLUMNS : undefined;
    },
    get outColumns() {
      return process.stdout.isTTY === true ? process.stdout.columns || COLUMNS : undefined;
    },
    onInterrupt,
  };
}

/**
 * Returns when everything is written. The process ends right after its command, and would lose what a stream still has
 * buffered for a pipe.
 */
function writeAll(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      const { code } = error as { code?: string };
      // The reader has closed the pipe, as `head` does.
      if (code === "EPIPE") return;
      if (code !== "EAGAIN") throw error;
      Bun.sleepSync(PIPE_WAIT_MS);
    }
  }
}

function onInterrupt(stop: () => void): () => void {
  let asked = false;
  const listen = () => {
    if (asked) process.exit(INTERRUPTED_CODE);
    asked = true;
    stop();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, listen);
  return () => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, listen);
  };
}

async function readStdin(): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of Bun.stdin.stream()) {
    size += chunk.byteLength;
    if (size > STDIN_BYTES_MAX) throw new CommandError("sallyport: the input on stdin is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function ask(question: string): Promise<string | undefined> {
  // Questions go to stderr, so that stdout contains only the command's data.
  const { createInterface } = await import("node:readline/promises");
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<undefined>((done) => reader.once("close", () => done(undefined)));
  try {
    return await Promise.race([reader.question(question), ended]);
  } finally {
    reader.close();
  }
}
