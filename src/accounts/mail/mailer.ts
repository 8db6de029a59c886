// Sends mail off the request path: a bounded queue, a few concurrent deliveries, and retries. Its state is shown in /health;
// lost mails are logged, without their text.

import { backoffMs } from "../../base/retry.ts";
import type { AccountLog } from "../account-log.ts";
import { isHopeless, type Mail, type MailTransport } from "./transport.ts";

/** Sends mails. */
export interface Mailer {
  /** Queues a mail; false if the queue is full. */
  send(mail: Mail): boolean;
  /** Sends a mail once, without the queue. Throws if it was not taken. */
  deliver(mail: Mail): Promise<void>;
  /** For /health: names neither addresses nor servers. */
  state(): { status: "ok" | "degraded"; transport: string; queued: number; delivered: number; failed: number };
  /** Applies the current configuration, including to waiting mails. */
  reconfigured(): void;
  /** Resolves when nothing is queued or in progress. */
  idle(): Promise<void>;
  /** Gives running deliveries some time to finish; waiting mails are lost and logged. */
  stop(): Promise<void>;
}

/** Options of a mailer. */
export interface MailerOptions {
  /** Rebuilt after a change of the configuration. */
  transport(): MailTransport;
  from(): string;
  readonly log: AccountLog;
  readonly queueMax?: number;
  readonly tries?: number;
  readonly backoff?: { readonly baseMs: number; readonly maxMs: number };
  readonly stopMs?: number;
}

/** About 3 MB; a queue this long means that the server is down. */
const QUEUE_MAX = 1000;
/** Within about eight minutes: a later code would have expired. */
const TRIES = 8;
const BACKOFF = { baseMs: 2000, maxMs: 120_000 };
const CONCURRENCY = 2;
const STOP_MS = 5000;

/** Makes a mailer. */
export function createMailer(options: MailerOptions): Mailer {
  return new MailQueue(options);
}

interface Waiting {
  readonly mail: Mail;
  readonly tried: number;
}

class MailQueue implements Mailer {
  readonly #options: MailerOptions;
  #transport: MailTransport;
  #running = 0;
  #delivered = 0;
  #failed = 0;
  #failing = false;
  #stopped = false;
  readonly #ready: Waiting[] = [];
  readonly #later = new Set<ReturnType<typeof setTimeout>>();
  #whenIdle: (() => void)[] = [];

  constructor(options: MailerOptions) {
    this.#options = options;
    this.#transport = options.transport();
  }

  send(mail: Mail): boolean {
    const { log, queueMax = QUEUE_MAX } = this.#options;
    if (this.#stopped || this.#queued() >= queueMax) {
      this.#failed++;
      log.error("a mail could not be queued and is lost", { subject: mail.subject, queued: this.#queued() });
      return false;
    }
    this.#ready.push({ mail, tried: 0 });
    // Starts only after the caller's current work.
    setImmediate(() => this.#pump());
    return true;
  }

  state(): ReturnType<Mailer["state"]> {
    return {
      status: this.#failing ? "degraded" : "ok",
      transport: this.#transport.kind,
      queued: this.#queued(),
      delivered: this.#delivered,
      failed: this.#failed,
    };
  }

  reconfigured(): void {
    this.#transport = this.#options.transport();
  }

  idle(): Promise<void> {
    return new Promise<void>((resolve) => {
      this.#whenIdle.push(resolve);
      this.#pump();
    });
  }

  async stop(): Promise<void> {
    const { log, stopMs = STOP_MS } = this.#options;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, stopMs);
    });
    for (const waits of this.#later) clearTimeout(waits);
    const lost = this.#later.size;
    this.#later.clear();
    await Promise.race([this.idle(), late]);
    clearTimeout(timer);
    this.#stopped = true;
    const left = lost + this.#ready.length + this.#running;
    if (left > 0) log.error("mails were lost when the program stopped", { mails: left });
  }

  #queued(): number {
    return this.#ready.length + this.#later.size + this.#running;
  }

  #pump(): void {
    while (!this.#stopped && this.#running < CONCURRENCY) {
      const next = this.#ready.shift();
      if (next === undefined) break;
      this.#running++;
      void this.#deliver(next);
    }
    if (this.#running === 0 && (this.#stopped || this.#queued() === 0)) {
      const told = this.#whenIdle;
      this.#whenIdle = [];
      for (const resolve of told) resolve();
    }
  }

  async deliver(mail: Mail): Promise<void> {
    const { log, from } = this.#options;
    try {
      const file = await this.#transport.deliver(mail, from());
      this.#delivered++;
      this.#failing = false;
      if (file !== undefined) {
        log.info("no mail server is configured (email.smtp_url): the mail was written to a file", { file });
      }
    } catch (error) {
      this.#failing = true;
      throw error;
    }
  }

  async #deliver(waiting: Waiting): Promise<void> {
    try {
      await this.deliver(waiting.mail);
    } catch (error) {
      this.#again(waiting, error);
    } finally {
      this.#running--;
      this.#pump();
    }
  }

  #again(waiting: Waiting, error: unknown): void {
    const { log, tries = TRIES, backoff = BACKOFF } = this.#options;
    const { mail } = waiting;
    const tried = waiting.tried + 1;
    if (tried >= tries || isHopeless(error)) {
      this.#failed++;
      log.error("a mail could not be sent and was discarded", { subject: mail.subject, tries: tried, error });
      return;
    }
    const waitMs = backoffMs(waiting.tried, backoff, Math.random);
    log.warn("a mail could not be sent; it will be retried", { subject: mail.subject, wait_ms: waitMs, error });
    const timer = setTimeout(() => {
      this.#later.delete(timer);
      this.#ready.push({ mail, tried });
      this.#pump();
    }, waitMs);
    // The timer alone does not keep the process alive.
    timer.unref();
    this.#later.add(timer);
  }
}
