// Alerts to people and to the operator's server. Whoever notices an event raises it; it is stored once in a window, whichever node
// raises it, and sent until it was taken. Nothing here is on the path of a request.

import type { Clock } from "../base/clock.ts";
import { isoTime } from "../base/iso-time.ts";
import { storable } from "../base/storable.ts";
import { waitAtMost } from "../base/wait-at-most.ts";
import type { AlertStore, AlertTarget, ClaimedAlert, NewAlert } from "../store/work/alerts.ts";

/** What happened. */
export type AlertType = "budget" | "key_expiry" | "provider_down" | "decision_drift" | "run_limit";

/** Something that people should know. */
export interface Alert {
  readonly type: AlertType;
  /** The id of what it is about: of a key, an account, a project, a provider, a decision model or a run. */
  readonly subject: string;
  /** The account whose matter it is; null: the operator's. */
  readonly accountId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  /** Tells the events of one type and subject apart, such as the thresholds of a budget. */
  readonly event?: string;
  /** When the same event may be raised again; null: never. */
  readonly untilMs: number | null;
}

/** What the webhook gets, and what mails are written from. */
export interface AlertBody {
  readonly type: AlertType;
  readonly at: string;
  readonly subject: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Raises and sends alerts. */
export interface Alerts {
  /** Raises an alert. Does not wait, never throws, and does nothing if the event was raised before in its window. */
  raise(alert: Alert): void;
  start(): void;
  /** Events that were raised may be sent to targets that are new. */
  reconfigure(): void;
  stop(): Promise<void>;
}

/** What sending needs. */
export interface AlertsDeps {
  readonly store: Pick<AlertStore, "putAlert" | "claimAlert" | "settleAlert" | "nextAlertAt">;
  readonly clock: Clock;
  /** Where an alert is sent; none: it is not kept. */
  targets(alert: Pick<Alert, "accountId">): readonly AlertTarget[];
  /** Sends an alert once; throws if it was not taken. */
  send(alert: ClaimedAlert, signal: AbortSignal): Promise<void>;
  /** Whether sending again would fail for the same reason. */
  isHopeless(error: unknown): boolean;
  readonly log: {
    warn(message: string, fields: Readonly<Record<string, unknown>>): void;
    error(message: string, fields: Readonly<Record<string, unknown>>): void;
  };
}

/** How long sending is repeated. */
const LIFE_MS = 86_400_000;
const FIRST_REPEAT_MS = 1000;
const REPEAT_MS_MAX = 600_000;
/** Longer than one attempt may take: if its node has died, another one sends the alert after this time. */
const HOLD_MS = 120_000;
/** How often alerts are looked for that other nodes left. */
const POLL_MS = 10_000;
const SENDING_MAX = 8;
/** Raised alerts that wait for the database. */
const UNSTORED_MAX = 1000;
/** Events that this node need not raise again. */
const RAISED_MAX = 20_000;
const EVENT_CHARS_MAX = 500;
/** An event without an end of its own is forgotten after a year, and may be told again. */
const UNTIL_MS = 366 * 86_400_000;
/** How long the program waits at its end for what is being sent, and then for what was aborted. */
const WIND_DOWN_MS = 3000;
const STOP_WAIT_MS = 1000;

/** Creates the queue; nothing is sent before `start`. */
export function createAlerts(deps: AlertsDeps): Alerts {
  return new AlertQueue(deps);
}

class AlertQueue implements Alerts {
  readonly #deps: AlertsDeps;
  /** Until when an event is not raised again. */
  readonly #raised = new Map<string, number>();
  readonly #unstored: NewAlert[] = [];
  #storing: Promise<void> | undefined;
  readonly #sending = new Set<Promise<void>>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStarted = false;
  readonly #stopped = new AbortController();

  constructor(deps: AlertsDeps) {
    this.#deps = deps;
  }

  raise(alert: Alert): void {
    const { type, subject, accountId, details, untilMs } = alert;
    const nowMs = this.#deps.clock.now();
    const event = storable(`${type}:${subject}:${alert.event ?? ""}`.slice(0, EVENT_CHARS_MAX));
    if ((this.#raised.get(event) ?? 0) > nowMs) return;
    const targets = this.#deps.targets(alert);
    if (targets.length === 0) return;
    const expiresAtMs = untilMs ?? nowMs + UNTIL_MS;
    if (this.#unstored.length >= UNSTORED_MAX) return;
    if (this.#raised.size >= RAISED_MAX) this.#raised.delete(this.#raised.keys().next().value as string);
    this.#raised.set(event, expiresAtMs);
    const body: AlertBody = { type, at: isoTime(nowMs), subject, details };
    this.#unstored.push({ event, accountId, body: JSON.stringify(body), targets, expiresAtMs });
    this.#store();
  }

  start(): void {
    this.#isStarted = true;
    this.#wake();
  }

  reconfigure(): void {
    this.#raised.clear();
  }

  async stop(): Promise<void> {
    this.#isStarted = false;
    clearTimeout(this.#timer);
    await this.#storing;
    if (this.#unstored.length > 0)
      this.#deps.log.error("alerts could not be stored and are lost", { alerts: this.#unstored.length });
    // What is being sent may be taken already: to repeat it would send it twice.
    await waitAtMost(WIND_DOWN_MS, Promise.all(this.#sending));
    this.#stopped.abort(new Error("The program is stopping."));
    await waitAtMost(STOP_WAIT_MS, Promise.all(this.#sending));
  }

  #store(): void {
    this.#storing ??= this.#storeAll()
      .catch((error: unknown) => this.#deps.log.warn("alerts could not be stored; this will be retried", { error }))
      .finally(() => {
        this.#storing = undefined;
        // The next look stores what is left.
        if (this.#unstored.length === 0) this.#wake();
        else this.#lookIn(POLL_MS);
      });
  }

  async #storeAll(): Promise<void> {
    for (let next = this.#unstored[0]; next !== undefined; next = this.#unstored[0]) {
      await this.#deps.store.putAlert(next);
      this.#unstored.shift();
    }
  }

  /** Sends what is due, beside what is being sent. */
  #wake(): void {
    if (!this.#isStarted) return;
    if (this.#unstored.length > 0) {
      this.#store();
      return;
    }
    if (this.#sending.size >= SENDING_MAX) return;
    const sending = this.#sendDue()
      .catch((error: unknown) => this.#deps.log.warn("it is not known which alerts are due", { error }))
      .finally(() => this.#sending.delete(sending))
      .then(() => this.#sleep());
    this.#sending.add(sending);
  }

  async #sleep(): Promise<void> {
    if (!this.#isStarted) return;
    const dueAtMs = await this.#deps.store.nextAlertAt().catch(() => undefined);
    this.#lookIn(dueAtMs === undefined ? POLL_MS : Math.min(POLL_MS, dueAtMs - this.#deps.clock.now()));
  }

  #lookIn(ms: number): void {
    if (!this.#isStarted) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, ms));
    this.#timer.unref();
  }

  async #sendDue(): Promise<void> {
    while (this.#isStarted) {
      const alert = await this.#deps.store.claimAlert(HOLD_MS);
      if (alert === undefined) return;
      // One that is slow does not delay the others.
      this.#wake();
      await this.#send(alert);
    }
  }

  async #send(alert: ClaimedAlert): Promise<void> {
    const { store, clock, send } = this.#deps;
    let dueAtMs: number | null = null;
    try {
      await send(alert, this.#stopped.signal);
    } catch (error) {
      // Whoever starts next, or another node, sends it.
      dueAtMs = this.#stopped.signal.aborted ? clock.now() : this.#repeatAtMs(alert, error);
    }
    await store.settleAlert(alert, dueAtMs);
  }

  /** When a failed alert is sent again; null if it is given up. */
  #repeatAtMs({ event, target, tries, createdAtMs }: ClaimedAlert, error: unknown): number | null {
    const { log, clock, isHopeless } = this.#deps;
    const to = target.startsWith("mail:") ? "mail" : target;
    const waitMs = Math.min(REPEAT_MS_MAX, FIRST_REPEAT_MS * 2 ** Math.min(tries - 1, 30));
    const atMs = clock.now() + waitMs;
    if (isHopeless(error) || atMs >= createdAtMs + LIFE_MS) {
      log.error("an alert could not be sent and was given up", { event, to, tries, error });
      return null;
    }
    log.warn("an alert could not be sent; it will be repeated", { event, to, tries, wait_ms: waitMs, error });
    return atMs;
  }
}
