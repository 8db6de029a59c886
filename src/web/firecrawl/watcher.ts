// Watches over a job for Firecrawl's clients: what there is at once, each document as it comes, and the end. The store is
// asked, so that it makes no difference which process works on the job.

import { ApiError } from "../../base/errors.ts";
import type { SocketSession } from "../../http/web-socket.ts";
import { withoutKeys } from "../crawl-view.ts";
import { DOCUMENTS_MAX, type FirecrawlJobRef, type FirecrawlJobsDeps, findJob, jobStatus, mayGoOn } from "./jobs.ts";

/** What watching needs. */
export interface WatchingDeps extends Pick<FirecrawlJobsDeps, "jobs" | "limits"> {
  /** Throws when the key does not open the job any more. */
  stillAllowed(): Promise<unknown>;
  readonly origin: string;
  unexpected(error: unknown): void;
}

/** Codes with which a connection is closed. */
const REFUSED = 1008;
const BROKEN = 1011;

/** Between two looks at a job that goes on. */
const LOOK_EVERY_MS = 500;
/** Documents of one look. */
const DOCUMENTS_EACH = 10;
const DOCUMENT_BYTES_MAX = 4 * 1024 * 1024;
/** No more is sent to a client that has this much to take. */
const BUFFERED_MAX = 8 * 1024 * 1024;

/** Watches until the job or the connection ends. Never throws. */
export async function tellOfJob(ref: FirecrawlJobRef, session: SocketSession, deps: WatchingDeps): Promise<void> {
  try {
    await watch(ref, session, deps);
  } catch (error) {
    if (session.closed.aborted) return;
    // The key was revoked, or the job has expired.
    const isExpected = error instanceof ApiError && error.status < 500;
    if (!isExpected) deps.unexpected(error);
    const text = isExpected ? error.message : "The job cannot be watched because of an internal error.";
    session.send(JSON.stringify({ type: "error", error: text }));
    session.close(isExpected ? REFUSED : BROKEN, "The job cannot be watched any more.");
  }
}

async function watch(ref: FirecrawlJobRef, session: SocketSession, deps: WatchingDeps): Promise<void> {
  const tell = (type: string, more: Readonly<Record<string, unknown>>) =>
    session.send(JSON.stringify({ type, ...more }));
  const window = { origin: deps.origin, offset: 0, limit: DOCUMENTS_MAX };
  const first = await jobStatus(ref, deps, window);
  const documents = first["data"] as unknown[];
  // A client that hears of the end takes no further documents.
  const isAll = first["next"] === null || first["status"] === "scraping";
  tell("catchup", { data: isAll ? first : { ...first, status: "scraping" } });
  for (let offset = documents.length; !session.closed.aborted; ) {
    await deps.stillAllowed();
    // First the state: a page that is stored before the end is then seen.
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
      if (job.state === "failed") tell("error", { error: String(job.error?.["message"] ?? "The job failed.") });
      else tell("done", { data: { ...last, next: null, data: [] } });
      return session.close(1000, "The job has ended.");
    }
    await pauseOrEnd(session);
  }
}

function pauseOrEnd({ closed }: SocketSession): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LOOK_EVERY_MS);
  closed.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}

/** Who watches. */
export interface Watchers {
  /** Takes a place of the account's; call the result when it is free again. Throws 429. */
  enter(accountId: string): () => void;
}

/** Jobs that one account watches at once. */
const WATCHERS_EACH_MAX = 20;

/** Counts them. */
export function createWatchers(): Watchers {
  const perAccount = new Map<string, number>();
  return {
    enter(accountId) {
      const count = perAccount.get(accountId) ?? 0;
      if (count >= WATCHERS_EACH_MAX)
        throw new ApiError(
          "rate_limit_exceeded",
          "Too many of your jobs are being watched. Close a connection first.",
          {
            retryAfterSeconds: 1,
          },
        );
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
