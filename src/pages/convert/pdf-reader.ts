// Reads PDFs one at a time, each in a process of its own with a memory limit.

import { BEHIND, lowerProcess } from "../../workers/priority.ts";
import { processCommand } from "../../workers/start.ts";
import { PageError } from "../page-error.ts";
import { createSlots } from "../slots.ts";
import type { Extracted } from "./extract.ts";
import { PDF_EXIT, PDF_PROCESS_WORD } from "./pdf-ceiling.ts";
import type { PdfRead } from "./pdf-text.ts";

/** Reads PDFs. */
export interface PdfReader {
  /** Returns the text of a PDF. Throws `PageError`, or the signal's reason. */
  read(bytes: Uint8Array, options: PdfReadOptions): Promise<Extracted>;
}

/** Limits for one PDF. */
export interface PdfReadOptions {
  /** The account for which it is read. Accounts take turns. */
  readonly account: string;
  /** The limit of the unpacked size of its streams. */
  readonly bytesMax: number;
  /** The time limit, counted from the start of the process. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The number of processes at once; more would multiply the memory limit. */
const AT_ONCE = 1;

/** Makes a reader. */
export function createPdfReader(): PdfReader {
  const slots = createSlots(AT_ONCE);
  return {
    read: (bytes, options) =>
      slots.run(options.account, options.signal ?? new AbortController().signal, () => readInProcess(bytes, options)),
  };
}

async function readInProcess(bytes: Uint8Array, { bytesMax, timeoutMs, signal }: PdfReadOptions): Promise<Extracted> {
  const limit = Math.ceil(timeoutMs);
  const command = processCommand(PDF_PROCESS_WORD, new URL("./pdf-process.ts", import.meta.url));
  const child = Bun.spawn([...command, String(bytesMax), String(limit)], {
    stdin: bytes,
    stdout: "pipe",
    stderr: "ignore",
    // The process gets no environment variables of the gateway.
    env: {},
    timeout: limit,
    killSignal: "SIGKILL",
  });
  lowerProcess(child.pid, BEHIND);
  const stop = () => child.kill("SIGKILL");
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const [said, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
    signal?.throwIfAborted();
    if (code === 0) return readAnswer(said);
    if (code === PDF_EXIT.tooLarge) throw new PageError("too_large", "The PDF is larger than allowed when unpacked.");
    if (child.signalCode === "SIGKILL") throw new PageError("conversion", "The PDF took too long to read.");
    throw new PageError("conversion", "The PDF could not be read: it is damaged or protected.");
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

function readAnswer(said: string): Extracted {
  const end = said.indexOf("\n");
  const { title, omission } = JSON.parse(said.slice(0, end)) as Omit<PdfRead, "text">;
  return {
    markdown: said.slice(end + 1),
    ...(omission === undefined ? {} : { omissions: [omission] }),
    links: [],
    allLinks: "",
    metadata: { title, description: "", language: "" },
    needsScript: undefined,
  };
}
