// Alerts: what raises them, and how they are sent. Wiring only.

import type { Mailer } from "../accounts/mail/mailer.ts";
import { type AlertText, alertMail } from "../accounts/mail/mails.ts";
import { isHopeless } from "../accounts/mail/transport.ts";
import type { Clock } from "../base/clock.ts";
import { isoTime } from "../base/iso-time.ts";
import type { LiveConfig } from "../config/live.ts";
import type { Drift } from "../decisions/models/watch.ts";
import type { SpentBudget } from "../gateway/admission/budgets.ts";
import { type Alerts, createAlerts } from "../jobs/alerts.ts";
import { createAddressGuard } from "../net/address-guard.ts";
import { createFetch } from "../net/fetch.ts";
import { createResolve } from "../net/resolve.ts";
import { postSigned } from "../net/signed-webhook.ts";
import { leftMicros, resetsAtMs } from "../store/usage/spending.ts";
import type { Verbs } from "../store/verbs.ts";
import type { AlertTarget } from "../store/work/alerts.ts";
import type { Logger } from "../telemetry/log.ts";
import type { LastFault } from "./observe.ts";

/** What alerts need. */
export interface AlertServiceDeps {
  readonly live: LiveConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly verbs: Pick<Verbs, "alerts">;
}

/** Raises and sends alerts. */
export interface AlertService extends Omit<Alerts, "start"> {
  /** Begins to send. */
  background(): void;
  /** Raises the alerts of a budget's thresholds. */
  budgetSpent(budget: SpentBudget): void;
  /** Raises the alert of a drifted decision model. */
  decisionDrifted(drift: Drift): void;
  /** Raises the alert of a provider that is down. */
  providerDown(provider: string, sinceMs: number, last: LastFault | undefined): void;
  /** Sets what sends mails. */
  mailedBy(mailer: Pick<Mailer, "deliver">): void;
}

/** When a provider that is down again, or a decision model that changes to the same version again, is told of anew. */
export const OUTAGE_WINDOW_MS = 3_600_000;
const DRIFT_WINDOW_MS = 30 * 86_400_000;
const MICROS_PER_USD = 1_000_000;

/** Creates the service. */
export function createAlertService({ live, clock, log, verbs }: AlertServiceDeps): AlertService {
  const settings = () => live.get().alerts;
  let mailer: Pick<Mailer, "deliver"> | undefined;
  const mail = async (to: string, name: string | undefined, body: string) =>
    mailer?.deliver(alertMail(to, name, JSON.parse(body) as AlertText));
  // The webhook is the operator's own word, so it may be anywhere.
  const post = live.derive(({ web }) =>
    createFetch(createAddressGuard({ allowPrivateNetworks: true, allowHosts: [], ports: [] }, createResolve(web.dns))),
  );
  const alerts = createAlerts({
    store: verbs.alerts,
    clock,
    log,
    isHopeless,
    targets: ({ accountId }) => [
      ...(settings().webhook === "" ? [] : (["webhook"] as const)),
      ...(accountId === null ? settings().mail.map((to): AlertTarget => `mail:${to}`) : (["owner"] as const)),
    ],
    // What is no longer configured is not sent.
    async send({ target, body, owner }, signal) {
      const { webhook: url, webhookSecret: secret } = settings();
      if (target === "owner") return owner && mail(owner.email, owner.username, body);
      if (target !== "webhook") return mail(target.slice("mail:".length), undefined, body);
      if (url !== "")
        await postSigned(post(), { url, body, secret, nowSeconds: Math.floor(clock.now() / 1000), signal });
    },
  });
  return {
    raise: (alert) => alerts.raise(alert),
    background: () => alerts.start(),
    reconfigure: () => alerts.reconfigure(),
    stop: () => alerts.stop(),
    mailedBy(own) {
      mailer = own;
    },
    decisionDrifted({ version: subject, ...details }) {
      const event = `${details.provider}:${details.now}:${details.fingerprint}`;
      const untilMs = clock.now() + DRIFT_WINDOW_MS;
      alerts.raise({ type: "decision_drift", subject, accountId: null, details, event, untilMs });
    },
    providerDown(subject, sinceMs, last) {
      const failure = last === undefined ? {} : { failure: last.kind, ...(last.status > 0 && { status: last.status }) };
      const details = { since: isoTime(sinceMs), ...failure };
      // Nodes notice one outage at different times.
      const untilMs = clock.now() + OUTAGE_WINDOW_MS;
      alerts.raise({ type: "provider_down", subject, accountId: null, details, untilMs });
    },
    budgetSpent({ id, of, accountId, name, window }) {
      const { limitMicros } = window;
      const nowMs = clock.now();
      const spentMicros = limitMicros - leftMicros(window, nowMs);
      for (const percent of settings().budget) {
        if (spentMicros * 100 < limitMicros * percent || limitMicros === 0) continue;
        const untilMs = resetsAtMs(window, nowMs);
        const [spent, limit] = [spentMicros / MICROS_PER_USD, limitMicros / MICROS_PER_USD];
        const details = { scope: of, name: name ?? undefined, percent, spent, limit, resets_at: isoTime(untilMs) };
        // A budget that was raised has its thresholds anew.
        alerts.raise({ type: "budget", subject: id, accountId, details, event: `${percent}:${limitMicros}`, untilMs });
      }
    },
  };
}
