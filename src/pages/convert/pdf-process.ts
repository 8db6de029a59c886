// A process that reads one PDF from stdin and exits. The memory that a PDF needs is unknown before it is parsed, so the process
// watches its own memory while a thread parses, and exits above the limit. The gateway is not affected.

import { createPool } from "../../workers/pool.ts";
import { startThread } from "../../workers/start.ts";
import { MEMORY_BYTES_MAX, PDF_EXIT, WATCH_MS } from "./pdf-ceiling.ts";
import type { PdfText } from "./pdf-text.ts";
import type { ConvertTask } from "./task.ts";

/** The arguments are the unpacked size limit of its streams and its time limit in milliseconds. */
const [bytesMax = 0, timeoutMs = 0] = process.argv.slice(-2).map(Number);

setInterval(() => {
  if (process.memoryUsage.rss() > MEMORY_BYTES_MAX) process.exit(PDF_EXIT.tooLarge);
}, WATCH_MS);

const threads = createPool<ConvertTask, PdfText>({
  start: () => startThread("./pages/convert/worker.ts", new URL("./worker.ts", import.meta.url)),
  size: 1,
});
try {
  const read = await threads.run({ kind: "pdf", bytes: await Bun.stdin.bytes(), bytesMax }, { timeoutMs, account: "" });
  if (read === "too large") process.exit(PDF_EXIT.tooLarge);
  await Bun.write(Bun.stdout, `${JSON.stringify({ ...read, text: undefined })}\n${read.text}`);
  process.exit(0);
} catch {
  process.exit(PDF_EXIT.unreadable);
}
