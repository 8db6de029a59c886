// An overview of the gateway: the state of providers, models and its own parts, and the usage of all accounts.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { GatewayView } from "../../../contract-admin.ts";
import type { EverybodysUsage } from "../../../contract-usage.ts";
import { useLoad } from "../../load.ts";
import { HealthBadge } from "../../parts/model-health.tsx";
import { Badge, Empty, Notice } from "../../parts/notice.tsx";
import { formatBytes, lasting, When } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { hrefOf } from "../../router.ts";
import { FAULT_WORDS } from "./fault-words.ts";
import { ByDay, daysShown, NO_MODEL, Spans, Sums, UsageTotals } from "./usage-figures.tsx";

/** The maximum age of the displayed state. */
const REFRESH_MS = 15_000;

const STATES = {
  ok: "ok",
  closed: "ok",
  degraded: "warn",
  half_open: "warn",
  unavailable: "danger",
  open: "danger",
  disabled: undefined,
} as const;

/** The page. */
export function GatewayPage() {
  const now = useLoad<GatewayView>("/admin/gateway");
  const usage = useLoad<EverybodysUsage>(`/admin/usage?days=${daysShown()}`);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void now.reload();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [now.reload]);
  const gateway = now.value.value;
  const report = usage.value.value;
  const problem = now.problem.value ?? usage.problem.value;
  return (
    <>
      <Title actions={<Spans />}>Gateway</Title>
      {problem !== undefined && <Notice kind="danger">{problem}</Notice>}
      {gateway?.providers.every(({ kind }) => kind === "demo") && (
        <Notice kind="warn">
          Only the demo model answers. Set a provider's variable, such as <code>OPENAI_API_KEY</code>, and start the
          gateway again, or add providers to its configuration.
        </Notice>
      )}
      {gateway?.untrusted_proxy != null && (
        <Notice kind="warn">
          {gateway.untrusted_proxy} sends <code>X-Forwarded-For</code> and is not in <code>server.trusted_proxies</code>
          . If it is your proxy, name it there: until then all of its clients count as one address.
        </Notice>
      )}
      {/* In the order of the page, so that later content moves nothing. */}
      {gateway !== undefined && <Parts gateway={gateway} />}
      {(gateway !== undefined || problem !== undefined) && (
        <>
          <UsageTotals report={report} />
          <ByDay report={report} />
        </>
      )}
      {gateway !== undefined && (report !== undefined || problem !== undefined) && (
        <>
          <Providers providers={gateway.providers} />
          <Models models={gateway.models} />
        </>
      )}
      {report !== undefined && report.models.length > 0 && (
        <Sums
          title="Usage by model"
          rows={report.models.map(({ model, ...sums }) => ({ name: model || NO_MODEL, ...sums }))}
        />
      )}
    </>
  );
}

function Parts({ gateway }: { gateway: GatewayView }) {
  const { database, web } = gateway;
  return (
    <section class="card" aria-label="Parts">
      <dl class="facts">
        <dt>Version</dt>
        <dd>{gateway.version}</dd>
        <dt>Up for</dt>
        <dd>{lasting(gateway.uptime_seconds)}</dd>
        <dt>Parts</dt>
        <dd>
          <span class="badges">
            {gateway.subsystems.map(({ name, status, note }) => (
              <Badge key={name} kind={STATES[status]}>
                {name}: {status}
                {note !== undefined && ` (${note})`}
              </Badge>
            ))}
          </span>
        </dd>
        <dt>Database</dt>
        <dd>
          {formatBytes(database.bytes)} ({formatBytes(database.free_bytes)} reclaimable), WAL{" "}
          {formatBytes(database.log_bytes)}
        </dd>
        <dt>Web tools</dt>
        <dd>{web.filter(isBusy).map(workText).join("; ") || "Idle"}</dd>
      </dl>
    </section>
  );
}

function Providers({ providers }: { providers: GatewayView["providers"] }) {
  return (
    <section class="stack" aria-labelledby="providers">
      <h2 id="providers">
        <a href={hrefOf("/admin/providers")}>Providers</a>
      </h2>
      {providers.length === 0 ? (
        <Empty>No provider is configured. Add one under providers in the configuration.</Empty>
      ) : (
        <div class="table-card">
          <table class="stacks">
            <thead>
              <tr>
                <th>Provider</th>
                <th>Kind</th>
                <th>Breaker</th>
                <th class="number">Current failures</th>
                <th>Last failure</th>
                <th class="number">Models</th>
              </tr>
            </thead>
            <tbody>
              {providers.map(({ name, kind, breaker, last_error: last, models }) => (
                <tr key={name}>
                  <th scope="row" class="long">
                    {name}
                  </th>
                  <td data-label="Kind">{kind}</td>
                  <td data-label="Breaker">
                    {breaker === null ? (
                      "–"
                    ) : (
                      <span class="badges">
                        <Badge kind={isRefused(breaker, last) ? "danger" : STATES[breaker.state]}>
                          {isRefused(breaker, last)
                            ? "key refused"
                            : breaker.state === "half_open"
                              ? "half open"
                              : breaker.state}
                        </Badge>
                        {breaker.opened_at !== null && <When iso={breaker.opened_at} />}
                      </span>
                    )}
                  </td>
                  <td data-label="Current failures" class="number">
                    {breaker?.failures ?? "–"}
                  </td>
                  <td data-label="Last failure">
                    {last === null ? (
                      "None"
                    ) : (
                      <span>
                        {FAULT_WORDS[last.kind] ?? last.kind}
                        {last.status > 0 && ` (${last.status})`}, <When iso={last.at} />
                      </span>
                    )}
                  </td>
                  <td data-label="Models" class="number">
                    {models}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

type ProviderRow = GatewayView["providers"][number];

/** A refused key opens no breaker although all calls fail, so the last failure is checked. */
function isRefused(breaker: NonNullable<ProviderRow["breaker"]>, last: ProviderRow["last_error"]): boolean {
  return breaker.state === "closed" && last?.kind === "auth" && !last.over;
}

/** Models with problems come first, and only some of many healthy ones are shown at once. */
const SHOWN = 20;
const WORST_FIRST = ["unavailable", "degraded", "unknown", "healthy"];

function Models({ models }: { models: GatewayView["models"] }) {
  const all = useSignal(false);
  const sorted = [...models].sort((a, b) => WORST_FIRST.indexOf(a.status) - WORST_FIRST.indexOf(b.status));
  const shown = all.value ? sorted : sorted.slice(0, SHOWN);
  return (
    <section class="stack" aria-labelledby="models">
      <h2 id="models">Models</h2>
      {models.length === 0 ? (
        <Empty>No model was checked yet.</Empty>
      ) : (
        <div class="table-card">
          <table class="stacks">
            <thead>
              <tr>
                <th>Model</th>
                <th>State</th>
                <th class="number">p50</th>
                <th class="number">p99</th>
                <th>Checked</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((model) => (
                <tr key={model.id}>
                  <th scope="row" class="long">
                    {model.id}
                  </th>
                  <td data-label="State">
                    <HealthBadge health={model.status} />
                  </td>
                  <td data-label="p50" class="number">
                    {milliseconds(model.p50_ms)}
                  </td>
                  <td data-label="p99" class="number">
                    {milliseconds(model.p99_ms)}
                  </td>
                  <td data-label="Checked">
                    <When iso={model.checked_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {sorted.length > shown.length && (
        <div class="row">
          <button type="button" onClick={() => (all.value = true)}>
            Show all {sorted.length}
          </button>
        </div>
      )}
    </section>
  );
}

function isBusy({ running, waiting }: GatewayView["web"][number]): boolean {
  return running + waiting > 0;
}

function workText({ what, running, waiting }: GatewayView["web"][number]): string {
  return `${what}: ${running} running, ${waiting} waiting`;
}

function milliseconds(ms: number | null): string {
  if (ms === null) return "–";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
