// The process's own streams as a command sees them.
import { createInterface } from "node:readline/promises";
import type { Io } from "./command.ts";
import { CommandError } from "./failure.ts";

/** What a command may read from stdin: passwords and small documents. */
const STDIN_BYTES_MAX = 1024 * 1024;

/** Reads and writes the process's stdin, stdout and stderr. */
export function processIo(): Io {
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    readStdin,
    ask,
    interactive: process.stdin.isTTY === true && process.stderr.isTTY === true,
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
  // Questions go to stderr so that stdout stays the command's data.
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<undefined>((done) => reader.once("close", () => done(undefined)));
  try {
    return await Promise.race([reader.question(question), ended]);
  } finally {
    reader.close();
  }
}
