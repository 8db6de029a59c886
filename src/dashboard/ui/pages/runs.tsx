// The account's agent runs: what each cost and whether it is paused and, when one is opened, its calls along the time.

import { useSignal } from "@preact/signals";
import { Fragment } from "preact";
import type { LogRowView } from "../../contract-log.ts";
import type { RunDetails, RunPage, RunRow } from "../../contract-runs.ts";
import { call } from "../api.ts";
import { useLoad } from "../load.ts";
import { Badge, Empty, FailureBadge, Notice, say } from "../parts/notice.tsx";
import { Table } from "../parts/table.tsx";
import { costText, durationText, percent, short, usd, When } from "../parts/time.tsx";
import { Title } from "../parts/title.tsx";
import { hrefOf, path } from "../router.ts";

const addressOf = (id: string) => `/runs/${encodeURIComponent(id)}`;

const LIMITS = { usd: "cost", requests: "requests", repeats: "repeated calls" } as const;

/** The number of calls that are shown at first. */
const CALLS_SHOWN = 100;

export function RunsPage() {
  const { value, problem, reload } = useLoad<RunPage>("/runs");
  const older = useSignal<readonly RunPage[]>([]);
  const first = value.value;
  const pages = first === undefined ? [] : [first, ...older.value];
  const rows = first === undefined ? undefined : pages.flatMap(({ data }) => data);
  const next = pages.at(-1)?.next ?? null;
  const more = async () => {
    try {
      older.value = [...older.value, await call<RunPage>("GET", `/runs?before=${next}`)];
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "danger");
    }
  };
  return (
    <>
      <Title>Agent runs</Title>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {rows?.length === 0 && (
        <Empty>
          No agent has run yet. Claude Code and Codex name their sessions by themselves; other clients name a run in the
          header <code>x-sallyport-run</code>.
        </Empty>
      )}
      {rows !== undefined && rows.length > 0 && <RunTable rows={rows} changed={reload} />}
      {next !== null && (
        <button type="button" onClick={() => void more()}>
          Show older runs
        </button>
      )}
    </>
  );
}

function RunTable({ rows, changed }: { rows: readonly RunRow[]; changed: () => Promise<void> }) {
  return (
    <Table
      caption="Agent runs"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { head: "Run", class: "long", cell: ({ id, name }) => <a href={hrefOf(addressOf(id))}>{nameText(name)}</a> },
        { head: "State", cell: (run) => <RunState of={run} /> },
        { head: "Cost", class: "number", cell: ({ cost }) => usd(cost) },
        { head: "Requests", class: "number", cell: ({ requests }) => short(requests) },
        { head: "Tokens", class: "number", cell: ({ tokens }) => short(tokens) },
        { head: "From cache", class: "number", cell: ({ cached_share: share }) => cachedText(share) },
        { head: "Began", cell: ({ started_at: at }) => (at === null ? "–" : <When iso={at} />) },
        {
          head: "Actions",
          actions: true,
          cell: (run) => (run.stopped === null ? null : <GoOn run={run} changed={changed} />),
        },
      ]}
    />
  );
}

function RunState({ of: { stopped } }: { of: RunRow }) {
  if (stopped === null) return <Badge kind="ok">not paused</Badge>;
  return <Badge kind="warn">{`paused: ${LIMITS[stopped.limit]}`}</Badge>;
}

function GoOn({ run: { id, name }, changed }: { run: RunRow; changed: () => Promise<void> }) {
  const busy = useSignal(false);
  const allow = async () => {
    busy.value = true;
    try {
      await call("POST", `${addressOf(id)}/allow`, {});
      say("The run may go on, by as much again as its limit. Tell the agent to continue.");
      await changed();
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "danger");
    } finally {
      busy.value = false;
    }
  };
  return (
    <button type="button" disabled={busy.value} aria-label={`Let ${nameText(name)} go on`} onClick={() => void allow()}>
      Let it go on
    </button>
  );
}

/** One run with its calls. */
export function OneRunPage() {
  const [, , id = ""] = path.value.split("/");
  const { value, problem, reload } = useLoad<RunDetails>(`/runs/${id}`);
  const details = value.value;
  const actions = (
    <div class="row">
      <a class="button" href={hrefOf("/runs")}>
        All runs
      </a>
      {details !== undefined && details.run.stopped !== null && <GoOn run={details.run} changed={reload} />}
    </div>
  );
  return (
    <>
      <Title actions={actions}>Agent run</Title>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {details !== undefined && <RunFacts run={details.run} />}
      {details !== undefined && <Calls calls={details.calls} />}
    </>
  );
}

function RunFacts({ run }: { run: RunRow }) {
  const { stopped, routes, dropped, dropped_reasoning: reasoning } = run;
  const lost = [...dropped, ...(reasoning === 0 ? [] : [`${reasoning} items of reasoning`])];
  const facts = [
    ["Run", <code>{run.name}</code>],
    ["State", <RunState of={run} />],
    ["Cost", usd(run.cost)],
    ["Requests", short(run.requests)],
    ["Tokens", `${short(run.input_tokens)} in, ${short(run.output_tokens)} out`],
    ["Input from cache", cachedText(run.cached_share)],
    ["Dropped", lost.length === 0 ? "nothing" : lost.join(", ")],
    ["Began", run.started_at === null ? "–" : <When iso={run.started_at} />],
    ["Last request", run.last_at === null ? "–" : <When iso={run.last_at} />],
  ] as const;
  return (
    <>
      {stopped !== null && <Notice kind="warn">{stoppedText(stopped)}</Notice>}
      <dl class="facts">
        {facts.map(([label, fact]) => (
          <Fragment key={label}>
            <dt>{label}</dt>
            <dd class="long">{fact}</dd>
          </Fragment>
        ))}
      </dl>
      <Table
        caption="Routes"
        rows={routes}
        keyOf={({ route }) => route}
        columns={[
          { head: "Route", class: "long", cell: ({ route }) => route },
          { head: "Calls", class: "number", cell: ({ calls }) => short(calls) },
          { head: "Cost", class: "number", cell: ({ cost }) => usd(cost) },
        ]}
      />
    </>
  );
}

function stoppedText({ limit, spent }: NonNullable<RunRow["stopped"]>): string {
  const reached = {
    usd: `it has cost ${usd(spent)}`,
    requests: `it has made ${short(spent)} requests`,
    repeats: `it has made the same tool calls ${short(spent)} times in a row`,
  };
  return `The run is paused at its limit: ${reached[limit]}. Let it go on, then tell the agent to continue.`;
}

function Calls({ calls }: { calls: readonly LogRowView[] }) {
  const times = calls.flatMap(({ created_at: at, latency_ms: ms }) => (at === null ? [] : [[Date.parse(at) - ms, ms]]));
  const fromMs = Math.min(...times.map(([start = 0]) => start));
  const spanMs = Math.max(1, ...times.map(([start = 0, ms = 0]) => start + ms - fromMs));
  return (
    <section class="page" aria-labelledby="calls">
      <h2 id="calls">Calls</h2>
      <Table
        caption="Calls of the run, from its beginning"
        class="requests"
        rows={calls}
        keyOf={({ id }) => id}
        most={CALLS_SHOWN}
        empty="The calls of this run are no longer in the request log."
        columns={[
          { head: "Time", cell: ({ created_at: at }) => (at === null ? "–" : <When iso={at} />) },
          { head: "Model", class: "long", cell: ({ model }) => model || "–" },
          {
            head: "Status",
            cell: ({ status, error }) =>
              error === null ? (
                <Badge kind="ok">{String(status)}</Badge>
              ) : (
                <FailureBadge status={status} error={error} />
              ),
          },
          { head: "Tokens", class: "number", cell: (row) => short(row.input_tokens + row.output_tokens) },
          { head: "Cost", class: "number", cell: costText },
          { head: "Took", class: "number", cell: ({ latency_ms: ms }) => durationText(ms) },
          { head: "Timeline", class: "timeline", label: null, cell: (row) => <Bar of={row} {...{ fromMs, spanMs }} /> },
        ]}
      />
    </section>
  );
}

/** When a call began and how long it took, within its run. */
function Bar({ of: row, fromMs, spanMs }: { of: LogRowView; fromMs: number; spanMs: number }) {
  if (row.created_at === null) return null;
  const left = ((Date.parse(row.created_at) - row.latency_ms - fromMs) / spanMs) * 100;
  const width = (row.latency_ms / spanMs) * 100;
  return (
    <div class="track" aria-hidden="true">
      <div
        class={row.error === null ? "bar" : "bar failed"}
        style={{ left: `${Math.min(left, 99)}%`, width: `max(2px, ${Math.min(width, 100 - left)}%)` }}
      />
    </div>
  );
}

/** What clients write before the name of their run, in words; what a person has chosen stands alone. */
const SOURCES: readonly (readonly [start: string, words: string])[] = [
  ["x-sallyport-run: ", ""],
  ["x-claude-code-session-id: ", "Claude Code "],
  ["session-id: ", "Session "],
  ["session_id: ", "Session "],
  ["thread-id: ", "Thread "],
  ["prompt_cache_key: ", "Session "],
  ["metadata.user_id: ", "Claude Code "],
  ["conversation: ", "Conversation "],
  ["opening: ", "Conversation "],
];

function nameText(name: string): string {
  const source = SOURCES.find(([start]) => name.startsWith(start));
  return source === undefined ? name : source[1] + name.slice(source[0].length);
}

function cachedText(share: number | null): string {
  return share === null ? "–" : percent(share);
}
