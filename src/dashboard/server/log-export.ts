// The request log as a file: the rows that match a filter, newest first, written while they are read.

import { csvLine } from "../../base/csv.ts";
import type { LogRowView } from "../contract-log.ts";

/** The limit of rows in one file, about 20 MB. */
const ROWS_MAX = 50_000;
const PAGE = 500;

/** The formats of a file, with their names. */
export const EXPORT_FORMATS = { csv: "text/csv; charset=utf-8", json: "application/json" } as const;

/** Name of a format. */
export type ExportFormat = keyof typeof EXPORT_FORMATS;

/** One page of the exported rows. */
type ReadPage = (
  beforeId: number | undefined,
  limit: number,
) => Promise<{ rows: readonly LogRowView[]; nextBeforeId: number | null }>;

/** The file, as a download. */
export function exportResponse(format: ExportFormat, read: ReadPage): Response {
  const pieces = format === "csv" ? csv(read) : json(read);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(new TextEncoder().encode(value));
    },
    cancel: () => void pieces.return(undefined),
  });
  return new Response(body, {
    headers: {
      "content-type": EXPORT_FORMATS[format],
      "content-disposition": `attachment; filename="sallyport-requests.${format}"`,
    },
  });
}

async function* pages(read: ReadPage): AsyncGenerator<readonly LogRowView[], void> {
  let before: number | undefined;
  for (let left = ROWS_MAX; left > 0; ) {
    const { rows, nextBeforeId } = await read(before, Math.min(PAGE, left));
    left -= rows.length;
    yield rows;
    if (nextBeforeId === null) return;
    before = nextBeforeId;
    // A pause, so that a long export does not delay other requests.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

async function* json(read: ReadPage): AsyncGenerator<string, void> {
  let first = true;
  yield "[";
  for await (const rows of pages(read)) {
    for (const row of rows) {
      yield `${first ? "" : ","}\n${JSON.stringify(row)}`;
      first = false;
    }
  }
  yield "\n]\n";
}

const COLUMNS = [
  ...(["created_at", "request_id", "account", "key", "endpoint", "model", "provider", "upstream_model"] as const),
  ...(["status", "error", "stopped", "stream", "repeats", "input_tokens", "output_tokens", "cached_tokens"] as const),
  ...(["reasoning_tokens", "estimated", "cost_usd", "latency_ms", "ttft_ms", "asked_model"] as const),
] satisfies readonly (keyof LogRowView)[];

async function* csv(read: ReadPage): AsyncGenerator<string, void> {
  yield `${[...COLUMNS, "tries"].join(",")}\r\n`;
  for await (const rows of pages(read)) {
    if (rows.length > 0) yield rows.map(line).join("");
  }
}

function line(row: LogRowView): string {
  const tries = row.tries.map(({ provider, model, kind, ms }) => `${provider}/${model} ${kind} ${ms}ms`).join("; ");
  return csvLine([...COLUMNS.map((name) => row[name]), tries]);
}
