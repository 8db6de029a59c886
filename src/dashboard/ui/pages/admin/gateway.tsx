// An overview of the gateway: the state of providers, models and its own parts, and the usage of all accounts.

import { useEffect } from "preact/hooks";
import type { GatewayView } from "../../../contract-admin.ts";
import type { EverybodysUsage } from "../../../contract-usage.ts";
import { useLoad } from "../../load.ts";
import { HealthBadge } from "../../parts/model-health.tsx";
import { Badge, Notice } from "../../parts/notice.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { formatBytes, lasting, usd, When } from "../../parts/time.tsx";
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
          {gateway.guardrails.length > 0 && <Guardrails guardrails={gateway.guardrails} />}
          <Providers providers={gateway.providers} />
          {gateway.mcp_servers.length > 0 && <McpServers servers={gateway.mcp_servers} />}
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
  const { database, web, cache } = gateway;
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
        {cache !== null && (
          <>
            <dt>Cache of answers</dt>
            <dd>{cacheText(cache)}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

/** What was kept and given again, on this node since its start. */
function cacheText({ hits, misses, failures, saved_usd: saved, bytes }: NonNullable<GatewayView["cache"]>): string {
  const asked = hits + misses;
  const share = asked === 0 ? "" : ` (${Math.round((100 * hits) / asked)} %)`;
  return [
    `Hits: ${hits.toLocaleString("en")}${share}, misses: ${misses.toLocaleString("en")}`,
    `saved: ${usd(saved)}`,
    ...(bytes === null ? [] : [`kept: ${formatBytes(bytes)}`]),
    ...(failures === 0 ? [] : [`failures: ${failures.toLocaleString("en")}`]),
  ].join("; ");
}

type GuardrailRow = GatewayView["guardrails"][number];

const counted = (what: "denied" | "masked" | "noted" | "failed") => ({
  class: "number",
  cell: (row: GuardrailRow) => row[what].toLocaleString("en"),
});

/** What guardrails found; never the text. */
const GUARDRAIL_COLUMNS: readonly Column<GuardrailRow>[] = [
  { head: "Guardrail", class: "long", cell: ({ name }) => name },
  { head: "Check", cell: ({ kind }) => kind },
  { head: "Action", cell: ({ action }) => action },
  { head: "Denied", ...counted("denied") },
  { head: "Masked", ...counted("masked") },
  { head: "Noted", ...counted("noted") },
  { head: "Failed", ...counted("failed") },
];

function Guardrails({ guardrails }: Pick<GatewayView, "guardrails">) {
  return (
    <section class="stack" aria-labelledby="guardrails">
      <h2 id="guardrails">Guardrails since the start</h2>
      <Table
        caption="Guardrails"
        rows={guardrails}
        keyOf={({ name }) => name}
        empty="No guardrail is configured."
        columns={GUARDRAIL_COLUMNS}
      />
    </section>
  );
}

function Providers({ providers }: { providers: GatewayView["providers"] }) {
  return (
    <section class="stack" aria-labelledby="providers">
      <h2 id="providers">
        <a href={hrefOf("/admin/providers")}>Providers</a>
      </h2>
      <Table
        caption="Providers"
        rows={providers}
        keyOf={({ name }) => name}
        empty="No provider is configured. Add one under providers in the configuration."
        columns={PROVIDER_COLUMNS}
      />
    </section>
  );
}

type ProviderRow = GatewayView["providers"][number];
type Breaker = NonNullable<ProviderRow["breaker"]>;

const PROVIDER_COLUMNS: readonly Column<ProviderRow>[] = [
  { head: "Provider", class: "long", cell: ({ name }) => name },
  { head: "Kind", cell: ({ kind }) => kind },
  {
    head: "Breaker",
    cell: ({ breaker, last_error: last }) => (breaker === null ? "–" : <BreakerState of={breaker} last={last} />),
  },
  { head: "Current failures", class: "number", cell: ({ breaker }) => breaker?.failures ?? "–" },
  {
    head: "Last failure",
    cell: ({ last_error: last }) =>
      last === null ? (
        "None"
      ) : (
        <span>
          {FAULT_WORDS[last.kind] ?? last.kind}
          {last.status > 0 && ` (${last.status})`}, <When iso={last.at} />
        </span>
      ),
  },
  { head: "Models", class: "number", cell: ({ models }) => models },
];

function BreakerState({ of: breaker, last }: { of: Breaker; last: ProviderRow["last_error"] }) {
  const refused = isRefused(breaker, last);
  const word = breaker.state === "half_open" ? "half open" : breaker.state;
  return (
    <span class="badges">
      <Badge kind={refused ? "danger" : STATES[breaker.state]}>{refused ? "key refused" : word}</Badge>
      {breaker.opened_at !== null && <When iso={breaker.opened_at} />}
    </span>
  );
}

/** A refused key opens no breaker although all calls fail, so the last failure is checked. */
function isRefused(breaker: Breaker, last: ProviderRow["last_error"]): boolean {
  return breaker.state === "closed" && last?.kind === "auth" && !last.over;
}

type McpRow = GatewayView["mcp_servers"][number];

const MCP_STATES = { up: "ok", down: "danger", unused: undefined } as const;

const MCP_COLUMNS: readonly Column<McpRow>[] = [
  { head: "Server", class: "long", cell: ({ name }) => name },
  { head: "Kind", cell: ({ kind, auto }) => (auto ? `${kind}, for every chat` : kind) },
  { head: "State", cell: ({ status }) => <Badge kind={MCP_STATES[status]}>{status}</Badge> },
  { head: "Tools", class: "number", cell: ({ tools }) => tools ?? "–" },
  { head: "Calls", class: "number", cell: ({ calls }) => calls },
  { head: "Failed", class: "number", cell: ({ failed_calls: failed }) => failed },
  { head: "Problem", class: "long", cell: ({ error }) => error ?? "None" },
];

function McpServers({ servers }: { servers: GatewayView["mcp_servers"] }) {
  return (
    <section class="stack" aria-labelledby="mcp-servers">
      <h2 id="mcp-servers">MCP servers</h2>
      <Table caption="MCP servers" rows={servers} keyOf={({ name }) => name} columns={MCP_COLUMNS} />
    </section>
  );
}

/** Models with problems come first, and only some of many healthy ones are shown at once. */
const SHOWN = 20;
const WORST_FIRST = ["unavailable", "degraded", "unknown", "healthy"];

function Models({ models }: { models: GatewayView["models"] }) {
  const sorted = [...models].sort((a, b) => WORST_FIRST.indexOf(a.status) - WORST_FIRST.indexOf(b.status));
  return (
    <section class="stack" aria-labelledby="models">
      <h2 id="models">Models</h2>
      <Table
        caption="Models"
        rows={sorted}
        keyOf={({ id }) => id}
        most={SHOWN}
        empty="No model was checked yet."
        columns={[
          { head: "Model", class: "long", cell: ({ id }) => id },
          { head: "State", cell: ({ status }) => <HealthBadge health={status} /> },
          { head: "p50", class: "number", cell: ({ p50_ms: ms }) => milliseconds(ms) },
          { head: "p99", class: "number", cell: ({ p99_ms: ms }) => milliseconds(ms) },
          { head: "Checked", cell: ({ checked_at: at }) => <When iso={at} /> },
        ]}
      />
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
