// Sends the state of a job to a client over a WebSocket: the present documents at once, later ones as they are stored, and the
// end. It polls the store, so it does not matter which process runs the job.

import { ApiError } from "../../base/errors.ts";
import type { SocketSession } from "../../http/web-socket.ts";
import { withoutKeys } from "../crawl-view.ts";
import { DOCUMENTS_MAX, type FirecrawlJobRef, type FirecrawlJobsDeps, findJob, jobStatus, mayGoOn } from "./jobs.ts";

/** What watching needs. */
export interface WatchingDeps extends Pick<FirecrawlJobsDeps, "jobs" | "limits"> {
  /** Throws if the key may no longer read the job. */
  stillAllowed(): Promise<unknown>;
  readonly origin: string;
  unexpected(error: unknown): void;
}

/** The codes with which the connection is closed. */
const ENDED = 1000;
const REFUSED = 1008;
const BROKEN = 1011;

/** The interval between two reads of a running job. */
const LOOK_EVERY_MS = 500;
/** Maximum number of documents in one read. */
const DOCUMENTS_EACH = 10;
const DOCUMENT_BYTES_MAX = 4 * 1024 * 1024;
/** While the client has this many bytes left to receive, nothing more is sent. */
const BUFFERED_MAX = 8 * 1024 * 1024;

/**
 * The version whose protocol a watcher speaks. In the first one the last message, `done` or `error`, is the reason with which the
 * connection is closed (public source of Firecrawl, controllers/v1/crawl-status-ws.ts, and `CrawlWatcher` of firecrawl-js).
 */
export type WatcherVersion = "v1" | "v2";

/** Maximum number of bytes of the reason with which a connection is closed (RFC 6455, 5.5). */
const REASON_BYTES_MAX = 123;

/** The last message. */
type LastMessage =
  | { readonly type: "done"; readonly data: unknown }
  | { readonly type: "error"; readonly error: string };

/** How the connection is closed, and the reason for it in words. */
interface Closing {
  readonly code: number;
  readonly reason: string;
}

/** Sends the last message and closes the connection. */
function end(session: SocketSession, version: WatcherVersion, message: LastMessage, { code, reason }: Closing): void {
  if (version === "v2") session.send(JSON.stringify(message));
  session.close(code, version === "v1" ? asReason(message) : reason);
}

function asReason(message: LastMessage): string {
  if (message.type === "done") return JSON.stringify({ type: "done" });
  const left = [...message.error.slice(0, REASON_BYTES_MAX)];
  for (;;) {
    const reason = JSON.stringify({ type: "error", error: left.join("") });
    if (Buffer.byteLength(reason) <= REASON_BYTES_MAX) return reason;
    left.pop();
  }
}

/** Sends the state until the job or the connection has ended. Never throws. */
export async function tellOfJob(
  ref: FirecrawlJobRef,
  session: SocketSession,
  deps: WatchingDeps,
  version: WatcherVersion,
): Promise<void> {
  try {
    const last = await watch(ref, session, deps);
    if (last !== undefined) end(session, version, last, { code: ENDED, reason: "The job has ended." });
  } catch (error) {
    if (session.closed.aborted) return;
    // The key was revoked, or the job has expired.
    const isExpected = error instanceof ApiError && error.status < 500;
    if (!isExpected) deps.unexpected(error);
    const text = isExpected ? error.message : "The job cannot be watched because of an internal error.";
    const closing = { code: isExpected ? REFUSED : BROKEN, reason: "The job can no longer be watched." };
    end(session, version, { type: "error", error: text }, closing);
  }
}

/** Sends everything but the last message, which it returns; undefined if the client has left. */
async function watch(
  ref: FirecrawlJobRef,
  session: SocketSession,
  deps: WatchingDeps,
): Promise<LastMessage | undefined> {
  const tell = (type: string, more: Readonly<Record<string, unknown>>) =>
    session.send(JSON.stringify({ type, ...more }));
  const window = { origin: deps.origin, offset: 0, limit: DOCUMENTS_MAX };
  const first = await jobStatus(ref, deps, window);
  const documents = first["data"] as unknown[];
  // A client that is told of the end expects no further documents, so the end is only sent with the last ones.
  const isAll = first["next"] === null || first["status"] === "scraping";
  tell("catchup", { data: isAll ? first : { ...first, status: "scraping" } });
  for (let offset = documents.length; !session.closed.aborted; ) {
    await deps.stillAllowed();
    // The state is read first, so that a page that was stored before the end is included.
    const job = await findJob(ref, deps.jobs);
    if (session.buffered() > BUFFERED_MAX) {
      await pauseOrEnd(session);
      continue;
    }
    const pages = await deps.jobs.listPages(ref.id, {
      failed: false,
      offset,
      limit: DOCUMENTS_EACH,
      bytesMax: DOCUMENT_BYTES_MAX,
    });
    for (const { body } of pages) tell("document", { data: withoutKeys(body) });
    offset += pages.length;
    if (pages.length > 0) continue;
    if (!mayGoOn(job)) {
      const { data: _, ...last } = await jobStatus(ref, deps, { ...window, limit: 1 });
      if (job.state === "failed") return { type: "error", error: String(job.error?.["message"] ?? "The job failed.") };
      return { type: "done", data: { ...last, next: null, data: [] } };
    }
    await pauseOrEnd(session);
  }
  return undefined;
}

function pauseOrEnd({ closed }: SocketSession): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LOOK_EVERY_MS);
  closed.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}

/** Limits how many jobs an account watches. */
export interface Watchers {
  /** Counts one more watcher of the account; call the returned function when it ends. Throws 429. */
  enter(accountId: string): () => void;
}

/** Maximum number of jobs that one account may watch at once. */
const WATCHERS_EACH_MAX = 20;

/** Creates the counter of watchers. */
export function createWatchers(): Watchers {
  const perAccount = new Map<string, number>();
  return {
    enter(accountId) {
      const count = perAccount.get(accountId) ?? 0;
      if (count >= WATCHERS_EACH_MAX)
        throw new ApiError("rate_limit_exceeded", "You are watching too many jobs at once. Close a connection first.", {
          retryAfterSeconds: 1,
        });
      perAccount.set(accountId, count + 1);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        const left = (perAccount.get(accountId) ?? 1) - 1;
        if (left === 0) perAccount.delete(accountId);
        else perAccount.set(accountId, left);
      };
    },
  };
}
