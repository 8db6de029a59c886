// The live view of the request log: Server-Sent Events with the id of each row, so that a reader whose connection broke
// can continue. The number of views is limited; a view ends with its session and when the program stops.

import { ApiError } from "../../base/errors.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { sseResponse } from "../../http/sse-response.ts";
import type { LogFollower } from "../../store/usage/log-follower.ts";
import type { LogRowView } from "../contract-log.ts";

const PER_ACCOUNT_MAX = 6;
const ALL_MAX = 60;
const POLL_MS = 1000;
/** How long a view may continue after its session was ended elsewhere. */
const RECHECK_MS = 15_000;
/** The delay after which a browser reconnects when the program has ended a stream. */
const RETRY_MS = 2000;
const BUSY_SECONDS = 30;

export interface LiveView {
  readonly request: Request;
  readonly accountId: string;
  readonly follower: LogFollower;
  show(rows: Awaited<ReturnType<LogFollower["next"]>>): Promise<readonly LogRowView[]>;
  /** Whether the session is still valid. */
  isSignedIn(): Promise<boolean>;
}

/** The open live views. */
export class LiveViews {
  readonly #open = new Map<symbol, { accountId: string; end(): void }>();
  #closed = false;

  /** Opens a live view. Throws `ApiError` 503 when there are too many. */
  open(view: LiveView): Response {
    const { request, accountId } = view;
    const own = [...this.#open.values()].filter((one) => one.accountId === accountId).length;
    if (this.#closed || own >= PER_ACCOUNT_MAX || this.#open.size >= ALL_MAX) {
      const message = "Too many live views of the log are open. Close another tab, or try again in a moment.";
      throw new ApiError("server_busy", message, { retryAfterSeconds: BUSY_SECONDS });
    }
    const exchange = exchangeOf(request);
    exchange.streaming = true;
    const name = Symbol("live view");
    const ended = Promise.withResolvers<void>();
    let over = false;
    const end = () => {
      if (over) return;
      over = true;
      ended.resolve();
      this.#open.delete(name);
      exchange.finish(200);
    };
    this.#open.set(name, { accountId, end });
    const source = liveSource(view, ended.promise, () => over);
    const next = async () => {
      const text = await source();
      if (text === undefined) end();
      return text;
    };
    return sseResponse({ next, cancel: end }, { keepalive: ": waiting\n\n", signal: request.signal });
  }

  /** Ends all live views and refuses new ones, because the program stops. */
  close(): void {
    this.#closed = true;
    for (const { end } of [...this.#open.values()]) end();
  }
}

function liveSource(view: LiveView, ended: Promise<void>, isOver: () => boolean): () => Promise<string | undefined> {
  let begun = false;
  let checkedMs = performance.now();
  return async () => {
    if (!begun) {
      begun = true;
      return `retry: ${RETRY_MS}\n\n`;
    }
    while (!isOver()) {
      const rows = await view.show(await view.follower.next());
      if (rows.length > 0) return rows.map((row) => `id: ${row.id}\ndata: ${JSON.stringify(row)}\n\n`).join("");
      await Promise.race([ended, Bun.sleep(POLL_MS)]);
      if (performance.now() - checkedMs < RECHECK_MS) continue;
      checkedMs = performance.now();
      if (!(await view.isSignedIn())) return undefined;
    }
    return undefined;
  };
}
