// Sends events of jobs to the clients' own servers. Their addresses are not trusted: requests go through the address guard,
// redirects are not followed, and responses are not read. The queue is limited and in memory. Events that wait when the program
// stops are lost; jobs that continue afterwards send only later events.

import { uuid } from "../../base/ids.ts";
import { BlockedAddress } from "../../net/address-guard.ts";
import { FetchError, type GuardedFetch } from "../../net/fetch.ts";
import type { Webhook, WebhookEvent } from "./webhook-input.ts";

/** One event. */
export interface WebhookNotice {
  readonly jobId: string;
  readonly accountId: string;
  /** The kind of the job in the event's `type`: `crawl` or `batch_scrape`. */
  readonly kind: string;
  readonly event: WebhookEvent;
  readonly webhook: Webhook;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: readonly unknown[];
  readonly error?: string | undefined;
}

/** Sends events. */
export interface Webhooks {
  /** Queues an event. The events of one job are sent in order. */
  send(notice: WebhookNotice): void;
  /** Drops the queue and cancels the events that are being sent. */
  close(): void;
}

/** What sending needs. */
export interface WebhookDeps {
  readonly fetch: GuardedFetch;
  /** The secret that signs an account's events. */
  secretOf(accountId: string): Promise<string>;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  /** The pauses between attempts; tests may set shorter ones. */
  readonly pausesMs?: readonly number[];
}

/** The pauses between the attempts to send one event. */
const PAUSES_MS = [1000, 10_000, 60_000];
const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;
/** Maximum number of queued events, in total and for one account. */
const WAITING_MAX = 5000;
const WAITING_EACH_MAX = 1000;
/** Maximum number of bytes in the bodies of queued events. */
const WAITING_BYTES_MAX = 128 * 1024 * 1024;
/** Maximum number of jobs whose events are sent at once. */
const SENDING_MAX = 16;

interface Waiting {
  readonly notice: WebhookNotice;
  readonly body: string;
}

/** Creates an empty queue. */
export function createWebhooks(deps: WebhookDeps): Webhooks {
  const queues = new Map<string, Waiting[]>();
  const busy = new Set<string>();
  const closed = new AbortController();
  const perAccount = new Map<string, number>();
  let count = 0;
  let bytes = 0;
  const change = ({ notice, body }: Waiting, by: 1 | -1) => {
    count += by;
    bytes += by * body.length;
    const of = (perAccount.get(notice.accountId) ?? 0) + by;
    if (of === 0) perAccount.delete(notice.accountId);
    else perAccount.set(notice.accountId, of);
  };
  const work = async (jobId: string) => {
    const queue = queues.get(jobId) ?? [];
    for (let next = queue[0]; next !== undefined && !closed.signal.aborted; next = queue[0]) {
      await deliver(next, deps, closed.signal);
      queue.shift();
      change(next, -1);
    }
    queues.delete(jobId);
  };
  const wake = () => {
    for (const jobId of queues.keys()) {
      if (busy.size >= SENDING_MAX || closed.signal.aborted) return;
      if (busy.has(jobId)) continue;
      busy.add(jobId);
      void work(jobId).finally(() => {
        busy.delete(jobId);
        wake();
      });
    }
  };
  return {
    send(notice) {
      if (!notice.webhook.events.includes(notice.event) || closed.signal.aborted) return;
      const waiting = { notice, body: bodyOf(notice) };
      const isFull =
        count >= WAITING_MAX ||
        bytes + waiting.body.length > WAITING_BYTES_MAX ||
        (perAccount.get(notice.accountId) ?? 0) >= WAITING_EACH_MAX;
      if (isFull) {
        deps.warn("an event of a job was dropped because too many are waiting", {
          job_id: notice.jobId,
          event: notice.event,
        });
        return;
      }
      change(waiting, 1);
      const queue = queues.get(notice.jobId);
      if (queue === undefined) queues.set(notice.jobId, [waiting]);
      else queue.push(waiting);
      wake();
    },
    close: () => closed.abort(new Error("The program is stopping.")),
  };
}

function bodyOf({ jobId, kind, event, webhook, data, error }: WebhookNotice): string {
  return JSON.stringify({
    success: event !== "failed",
    type: `${kind}.${event}`,
    id: jobId,
    webhookId: uuid(),
    data,
    metadata: webhook.metadata,
    ...(error === undefined ? {} : { error }),
  });
}

/** Sends an event, and repeats the attempt until the server accepts it or no attempts are left. */
async function deliver({ notice, body }: Waiting, deps: WebhookDeps, signal: AbortSignal): Promise<void> {
  const pauses = deps.pausesMs ?? PAUSES_MS;
  let problem = "";
  for (let attempt = 0; attempt <= pauses.length; attempt++) {
    if (attempt > 0) await pauseFor(pauses[attempt - 1] ?? 0, signal);
    if (signal.aborted) return;
    try {
      const { status } = await post(notice, body, deps, signal);
      if (status < 300) return;
      problem = `the server answered with status ${status}`;
      // Another attempt would get the same response.
      if (status < 500 && status !== 408 && status !== 429) break;
    } catch (error) {
      if (signal.aborted) return;
      problem = error instanceof Error ? error.message : "it failed";
      // A forbidden address, or one that only redirects, would fail again.
      if (error instanceof BlockedAddress || (error instanceof FetchError && error.fault === "redirects")) break;
    }
  }
  const { jobId, event } = notice;
  deps.warn("an event of a job could not be sent", { job_id: jobId, event, problem });
}

async function post(notice: WebhookNotice, body: string, deps: WebhookDeps, signal: AbortSignal) {
  const secret = await deps.secretOf(notice.accountId);
  const signature = new Bun.CryptoHasher("sha256", secret).update(body).digest("hex");
  return deps.fetch(notice.webhook.url, {
    method: "POST",
    body,
    bytesMax: ANSWER_BYTES_MAX,
    timeoutMs: TIMEOUT_MS,
    redirectsMax: 0,
    purpose: "webhook",
    signal,
    headers: {
      ...notice.headers,
      "content-type": "application/json",
      "x-firecrawl-signature": `sha256=${signature}`,
    },
  });
}

function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}
