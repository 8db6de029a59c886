// Sends mail off the request's path: a bounded queue, a few deliveries at once, and more tries when one fails. How it fares
// is shown in /health; what is lost is logged, without the mail's text.
import { backoffMs } from "../../base/retry.ts";
import type { Logger } from "../../telemetry/log.ts";
import { isHopeless, type Mail, type MailTransport } from "./transport.ts";

/** Sends mails. */
export interface Mailer {
  /** Queues a mail; false when the queue is full. */
  send(mail: Mail): boolean;
  /** For /health: names neither addresses nor servers. */
  state(): { status: "ok" | "degraded"; transport: string; queued: number; delivered: number; failed: number };
  /** Takes what is configured now; mails that wait go the new way. */
  reconfigured(): void;
  /** Resolves when nothing is queued or under way. */
  idle(): Promise<void>;
  /** Lets deliveries that are under way finish for a while; what still waits is lost and logged. */
  stop(): Promise<void>;
}

/** How a mailer works. */
export interface MailerOptions {
  /** Made anew after a change of the configuration. */
  transport(): MailTransport;
  from(): string;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  readonly queueMax?: number;
  readonly tries?: number;
  readonly backoff?: { readonly baseMs: number; readonly maxMs: number };
  readonly stopMs?: number;
}

/** About 3 MB; a queue this long means that the server is gone. */
const QUEUE_MAX = 1000;
/** Over some eight minutes: a code that comes later would be void. */
const TRIES = 8;
const BACKOFF = { baseMs: 2000, maxMs: 120_000 };
const CONCURRENCY = 2;
const STOP_MS = 5000;

/** Makes a mailer. */
export function createMailer(options: MailerOptions): Mailer {
  const { log, queueMax = QUEUE_MAX, tries = TRIES, backoff = BACKOFF, stopMs = STOP_MS } = options;
  let transport = options.transport();
  let running = 0;
  let delivered = 0;
  let failed = 0;
  let failing = false;
  let stopped = false;
  const ready: Waiting[] = [];
  const later = new Set<ReturnType<typeof setTimeout>>();
  let whenIdle: (() => void)[] = [];

  const queued = () => ready.length + later.size + running;

  const again = (waiting: Waiting, error: unknown): void => {
    const tried = waiting.tried + 1;
    failing = true;
    if (tried >= tries || isHopeless(error)) {
      failed++;
      log.error("a mail could not be sent and is given up", { subject: waiting.mail.subject, tries: tried, error });
      return;
    }
    const waitMs = backoffMs(waiting.tried, backoff, Math.random);
    log.warn("a mail could not be sent; it is tried again", { subject: waiting.mail.subject, wait_ms: waitMs, error });
    const timer = setTimeout(() => {
      later.delete(timer);
      ready.push({ mail: waiting.mail, tried });
      pump();
    }, waitMs);
    // Waiting alone is no reason for the process to live.
    timer.unref();
    later.add(timer);
  };

  const deliver = async (waiting: Waiting): Promise<void> => {
    try {
      const file = await transport.deliver(waiting.mail, options.from());
      delivered++;
      failing = false;
      if (file !== undefined) {
        log.info("no mail server is configured (email.smtp_url): a mail was written to a file", { file });
      }
    } catch (error) {
      again(waiting, error);
    } finally {
      running--;
      pump();
    }
  };

  const pump = (): void => {
    while (!stopped && running < CONCURRENCY) {
      const next = ready.shift();
      if (next === undefined) break;
      running++;
      void deliver(next);
    }
    if (running === 0 && (stopped || queued() === 0)) {
      const told = whenIdle;
      whenIdle = [];
      for (const resolve of told) resolve();
    }
  };

  const idle = () =>
    new Promise<void>((resolve) => {
      whenIdle.push(resolve);
      pump();
    });

  return {
    send(mail) {
      if (stopped || queued() >= queueMax) {
        failed++;
        log.error("a mail could not be queued and is lost", { subject: mail.subject, queued: queued() });
        return false;
      }
      ready.push({ mail, tried: 0 });
      // Not before the caller's own work is done.
      setImmediate(pump);
      return true;
    },
    state: () => ({
      status: failing ? "degraded" : "ok",
      transport: transport.kind,
      queued: queued(),
      delivered,
      failed,
    }),
    reconfigured() {
      transport = options.transport();
    },
    idle,
    async stop() {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, stopMs);
      });
      for (const waits of later) clearTimeout(waits);
      const lost = later.size;
      later.clear();
      await Promise.race([idle(), late]);
      clearTimeout(timer);
      stopped = true;
      const left = lost + ready.length + running;
      if (left > 0) log.error("mails were lost at the stop", { mails: left });
    },
  };
}

interface Waiting {
  readonly mail: Mail;
  readonly tried: number;
}
