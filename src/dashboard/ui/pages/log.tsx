// The request log: each request with its route, usage and outcome, as it happens.

import { useSignal } from "@preact/signals";
import { API } from "../../contract.ts";
import type { LogPageView, LogRowView } from "../../contract-log.ts";
import { call } from "../api.ts";
import { useFollow } from "../follow.ts";
import { useLoad } from "../load.ts";
import { Empty, Notice, say } from "../parts/notice.tsx";
import { choose, isEverybody, ScopeChoice, SpanChoice, spanShown } from "../parts/span.tsx";
import { Table } from "../parts/table.tsx";
import { Title } from "../parts/title.tsx";
import { hrefOf, query } from "../router.ts";
import { clearFilters, filterQuery, isFiltered, LogFilters } from "./log/filters.tsx";
import { Disclosure, detailId, LOG_COLUMNS, LogDetail } from "./log/row.tsx";

/** The number of rows that the page keeps while it follows the log. */
const ROWS_MAX = 500;

export function LogPage() {
  const scope = isEverybody() ? "/admin" : "";
  return (
    <>
      <Title actions={<SpanChoice />}>Request log</Title>
      <ScopeChoice />
      <LogFilters key={scope} scope={scope} />
      <LogRows key={`${scope}?${filterQuery()}`} scope={scope} />
    </>
  );
}

function LogRows({ scope }: { scope: string }) {
  const filter = filterQuery();
  const { value, problem } = useLoad<LogPageView>(`${scope}/log?${filter}`);
  const older = useSignal<readonly LogPageView[]>([]);
  const fresh = useSignal<readonly LogRowView[]>([]);
  const waiting = useSignal<readonly LogRowView[]>([]);
  const page = value.value;
  const isLive = query.value.get("live") === "1";
  const take = (row: LogRowView) => {
    // Rows that are being read must not move.
    const isRead = query.value.has("open") || scrollY > 120;
    const list = isRead ? waiting : fresh;
    list.value = [row, ...list.value].slice(0, ROWS_MAX);
  };
  const live = useFollow<LogRowView>(isLive && page !== undefined ? `${scope}/log/live?${filter}` : undefined, {
    after: page?.last ?? 0,
    take,
  });
  const show = () => {
    fresh.value = [...waiting.value, ...fresh.value].slice(0, ROWS_MAX);
    waiting.value = [];
    scrollTo(0, 0);
  };
  const list = listOf([fresh.value, page?.data ?? [], ...older.value.map(({ data }) => data)]);
  const next = (older.value.at(-1) ?? page)?.next ?? null;
  const more = async () => {
    try {
      const answer = await call<LogPageView>("GET", `${scope}/log?${filter}&before=${next}`);
      older.value = [...older.value, answer];
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "danger");
    }
  };
  return (
    <section class="stack" aria-label="Requests">
      <div class="row between">
        <LiveButton state={live.state} isLive={isLive} />
        <div class="row">
          <a class="button" href={`${API}${scope}/log/export?format=csv&${filter}`} download>
            CSV
          </a>
          <a class="button" href={`${API}${scope}/log/export?format=json&${filter}`} download>
            JSON
          </a>
        </div>
      </div>
      {live.state === "refused" && <Notice kind="warn">{live.reason}</Notice>}
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {waiting.value.length > 0 && (
        <div class="row">
          <button type="button" onClick={show}>
            Show {waiting.value.length} new
          </button>
        </div>
      )}
      {page !== undefined && list.length === 0 && <Nothing more={next !== null} />}
      {list.length > 0 && <Rows list={list} fresh={fresh.value} />}
      {page !== undefined && next !== null && (
        <div class="row">
          <button type="button" onClick={more}>
            {list.length === 0 ? "Search older requests" : "Show older"}
          </button>
        </div>
      )}
    </section>
  );
}

/** Each row once, newest first. */
function listOf(parts: readonly (readonly LogRowView[])[]): LogRowView[] {
  const byId = new Map<number, LogRowView>();
  for (const part of parts) for (const row of part) byId.set(row.id, row);
  return [...byId.values()].sort((a, b) => b.id - a.id);
}

function Rows({ list, fresh }: { list: readonly LogRowView[]; fresh: readonly LogRowView[] }) {
  const open = Number(query.value.get("open") ?? 0);
  // A search for a single request opens it.
  const only = query.value.get("request") !== null && list.length === 1 ? list[0]?.id : undefined;
  const isOpen = (id: number) => (query.value.has("open") ? open === id : only === id);
  const freshIds = new Set(fresh.map(({ id }) => id));
  const toggle = (id: number) => choose({ open: isOpen(id) ? (only === id ? "0" : "") : String(id) });
  return (
    <Table
      caption="Requests, newest first"
      class="requests log"
      rows={list}
      keyOf={({ id }) => id}
      rowClass={({ id }) => (freshIds.has(id) ? "fresh" : undefined)}
      columns={[
        {
          head: "Time",
          class: "when",
          cell: (row) => <Disclosure of={row} isOpen={isOpen(row.id)} toggle={() => toggle(row.id)} />,
        },
        ...LOG_COLUMNS,
      ]}
      below={(row) => (isOpen(row.id) ? { id: detailId(row), shown: <LogDetail row={row} /> } : undefined)}
    />
  );
}

const LIVE_WORDS = { off: "Live", on: "Live", waiting: "Reconnecting…", refused: "Live" } as const;

function LiveButton({ state, isLive }: { state: keyof typeof LIVE_WORDS; isLive: boolean }) {
  return (
    <button type="button" class="live" aria-pressed={isLive} onClick={() => choose({ live: isLive ? "" : "1" })}>
      <span class={`dot ${isLive ? state : "off"}`} aria-hidden="true" />
      {LIVE_WORDS[state]}
    </button>
  );
}

function Nothing({ more }: { more: boolean }) {
  if (more) return <Empty>No match among the latest requests.</Empty>;
  if (isFiltered())
    return (
      <div class="empty">
        <p>No request in this span matches the filters.</p>
        <button type="button" onClick={clearFilters}>
          Clear filters
        </button>
      </div>
    );
  return (
    <Empty>
      No requests in this span{spanShown() === "90d" ? "" : ": choose a longer one"}. To send one,{" "}
      <a href={hrefOf("/")}>copy a line of the quick start</a>: it appears here when it ends.
    </Empty>
  );
}
