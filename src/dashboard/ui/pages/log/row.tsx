// One request of the log: the cells of its row, and its details below.

import type { LogRowView, TryView } from "../../../contract-log.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Badge, FailureBadge } from "../../parts/notice.tsx";
import type { Column } from "../../parts/table.tsx";
import { costText, durationText, exactTime, short } from "../../parts/time.tsx";
import { hrefOf } from "../../router.ts";
import { subjectOf } from "./subject.ts";
import { Wire } from "./wire.tsx";

/** The id of a request's details on the page. */
export function detailId({ id }: LogRowView): string {
  return `request-${id}`;
}

/** The time of a request, with the button that opens its details. */
export function Disclosure({ of: row, isOpen, toggle }: { of: LogRowView; isOpen: boolean; toggle(): void }) {
  return (
    <button type="button" class="quiet disclose" aria-expanded={isOpen} aria-controls={detailId(row)} onClick={toggle}>
      <Icon name="more" />
      <span class="off-screen">Details of </span>
      <time dateTime={row.created_at}>{exactTime(row.created_at)}</time>
    </button>
  );
}

/** The columns beside the time. */
export const LOG_COLUMNS: readonly Column<LogRowView>[] = [
  { head: "Status", cell: (row) => <Outcome of={row} /> },
  {
    head: "Model, route",
    label: null,
    class: "cut model",
    whole: subjectOf,
    cell: (row) => (
      <>
        {subjectOf(row)}
        {row.tries.length > 0 && <small>{routeOf(row)}</small>}
      </>
    ),
  },
  {
    head: "Key",
    class: "cut",
    whole: ({ key }) => key,
    cell: ({ key, account }) => (
      <span>
        {key || "a deleted key"}
        {account !== "" && <small> {account}</small>}
      </span>
    ),
  },
  {
    head: "Tokens",
    class: "number aside-phone",
    cell: ({ input_tokens: input, output_tokens: output }) =>
      input + output === 0 ? "–" : `${short(input)} / ${short(output)}`,
  },
  { head: "Cost", class: "number aside-phone", cell: costText },
  { head: "First byte", class: "number aside-phone", cell: ({ ttft_ms: ms }) => durationText(ms) },
  { head: "Duration", class: "number", cell: ({ latency_ms: ms }) => durationText(ms) },
];

/** How a request ended. */
function Outcome({ of: { stopped, error, status, repeats } }: { of: LogRowView }) {
  if (stopped) return <Badge>Stopped</Badge>;
  const times = repeats > 1 ? ` × ${repeats}` : "";
  if (error === null && status < 400) return <Badge kind="ok">{`${status}${times}`}</Badge>;
  return <FailureBadge status={status} error={error} times={repeats} />;
}

function routeOf({ tries, provider }: LogRowView): string {
  if (tries.length < 2) return provider || "–";
  return tries.map((one) => `${one.provider}${one.kind === "ok" ? "" : " ✕"}`).join(" → ");
}

/** What is known of a request. */
export function LogDetail({ row }: { row: LogRowView }) {
  return (
    <div class="log-detail">
      <p>{sentenceOf(row)}</p>
      <div class="address">
        <span>Request id</span>
        <code>{row.request_id}</code>
        <CopyButton text={row.request_id} what="the request id" />
        <a href={hrefOf(`/log?request=${encodeURIComponent(row.request_id)}`)}>Link to this request</a>
      </div>
      {row.tries.length > 0 && <Waterfall tries={row.tries} wholeMs={row.latency_ms} />}
      <dl class="facts">
        {factsOf(row).map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {row.debugged ? (
        <Wire id={row.id} />
      ) : (
        <p class="hint">This log does not contain the content of requests and answers.</p>
      )}
    </div>
  );
}

/** What happened, in one sentence. */
function sentenceOf(row: LogRowView): string {
  const { tries, stopped, error, status, provider } = row;
  const failed = tries.filter(({ kind }) => kind !== "ok").length;
  const before = failed === 0 ? "" : ` after ${failed === 1 ? "another route" : `${failed} tries`} failed`;
  if (stopped) return `The client ended the request${before === "" ? "" : `,${before}`}.`;
  if (error === null && status < 400) return `${provider === "" ? "The gateway" : provider} answered${before}.`;
  const repeated = row.repeats > 1 ? ` ${row.repeats} such failures of this key within a minute share this row.` : "";
  if (status < 400) return `The answer broke off: ${error}.${repeated}`;
  if (tries.length === 0) return `The gateway refused the request before calling a provider: ${error}.${repeated}`;
  return `The request failed with ${status} ${error}${failed > 1 ? ` after ${failed} tries` : ""}.${repeated}`;
}

function factsOf(row: LogRowView): [string, string][] {
  const tokens = row.input_tokens + row.output_tokens > 0;
  const streamMs = row.latency_ms - (row.ttft_ms ?? 0);
  const speed = row.stream && streamMs > 0 && row.output_tokens > 1 ? (row.output_tokens / streamMs) * 1000 : 0;
  return [
    ["Endpoint", row.endpoint + (row.stream ? " (stream)" : "")],
    ...(row.model === "" ? [] : ([["Model", row.model]] as [string, string][])),
    ...(row.asked_model === "" ? [] : ([["Asked for", row.asked_model]] as [string, string][])),
    ["Key", row.key || "a deleted key"],
    ...(row.upstream_model !== "" ? ([["Model at the provider", row.upstream_model]] as [string, string][]) : []),
    ...(tokens
      ? ([
          [
            "Input tokens",
            `${short(row.input_tokens)}${row.cached_tokens > 0 ? `, ${short(row.cached_tokens)} from cache` : ""}`,
          ],
          [
            "Output tokens",
            `${short(row.output_tokens)}${row.reasoning_tokens > 0 ? `, ${short(row.reasoning_tokens)} reasoning` : ""}`,
          ],
        ] as [string, string][])
      : []),
    ...(row.estimated && tokens
      ? ([["Counted", "by the gateway, since the provider reported no usage"]] as [string, string][])
      : []),
    ...(tokens ? ([["Cost", costText(row)]] as [string, string][]) : []),
    ...(row.ttft_ms === null ? [] : ([["First byte", durationText(row.ttft_ms)]] as [string, string][])),
    ...(speed > 0 ? ([["Speed", `${speed.toFixed(0)} tokens/s`]] as [string, string][]) : []),
  ];
}

/** The attempts of a request along its duration. */
function Waterfall({ tries, wholeMs }: { tries: readonly TryView[]; wholeMs: number }) {
  const end = Math.max(wholeMs, 1, ...tries.map(({ at, ms }) => at + ms));
  return (
    <ol class="waterfall" aria-label="Tries">
      {tries.map((attempt, index) => (
        <li key={index}>
          <span class="long">
            {attempt.provider}/{attempt.model}
          </span>
          <span class="track" aria-hidden="true">
            <span
              class={attempt.kind === "ok" ? "bar" : "bar failed"}
              style={{ left: `${(attempt.at / end) * 100}%`, width: `${Math.max((attempt.ms / end) * 100, 0.6)}%` }}
            />
          </span>
          <span class="ending">
            {attempt.kind === "ok"
              ? "answered"
              : `✕ ${attempt.kind.replaceAll("_", " ")}${attempt.status > 0 ? ` (${attempt.status})` : ""}`}
            , {durationText(attempt.ms)}
            {attempt.at > 0 && <small> after {durationText(attempt.at)}</small>}
          </span>
        </li>
      ))}
    </ol>
  );
}
