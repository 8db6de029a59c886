// Shows a job on any page: its progress, result and failures, with buttons to cancel it and to download its result.

import { useSignal } from "@preact/signals";
import { API } from "../../contract.ts";
import type { JobPageView, JobRow, JobView } from "../../contract-jobs.ts";
import { call } from "../api.ts";
import { useEscape } from "../escape.ts";
import { useLive } from "../live.ts";
import { useLoad } from "../load.ts";
import { confirmed } from "./confirm.tsx";
import { Code } from "./copy.tsx";
import { Markdown } from "./markdown.tsx";
import { Badge, Empty, Notice, say } from "./notice.tsx";
import { Table } from "./table.tsx";
import { Tabs } from "./tabs.tsx";
import { formatBytes, When } from "./time.tsx";

type State = JobRow["state"];

const KINDS: Readonly<Record<string, string>> = { crawl: "Crawl", extract: "Extraction", llmstxt: "llms.txt" };

/** The label of a kind of job. */
export function kindName(kind: string): string {
  return KINDS[kind] ?? kind;
}

/** Whether the job has not ended yet. */
export function isOpenJob({ state }: { state: State }): boolean {
  return state === "queued" || state === "running";
}

const STATES: Readonly<Record<State, readonly [string, "info" | "ok" | "danger" | undefined]>> = {
  queued: ["Waiting", undefined],
  running: ["Running", "info"],
  completed: ["Done", "ok"],
  failed: ["Failed", "danger"],
  cancelled: ["Cancelled", undefined],
};

/** The job's state as a label. */
export function JobState({ state }: { state: State }) {
  const [text, kind] = STATES[state];
  return <Badge kind={kind}>{text}</Badge>;
}

/** The job's progress: a bar while it runs, then the number of pages. */
export function JobProgress({ job }: { job: Pick<JobRow, "state" | "completed" | "total" | "stage"> }) {
  const { completed, total, stage } = job;
  if (!isOpenJob(job)) return <>{completed === 1 ? "1 page" : `${completed} pages`}</>;
  return (
    <span class="progress">
      <progress value={completed} max={Math.max(1, total)} aria-label="Pages read" />
      <span>
        {completed} of {total}
        {stage !== null && ` · ${stage}`}
      </span>
    </span>
  );
}

/** Asks for confirmation, then cancels the job at `path`. */
export async function cancelJob(path: string, afterwards: () => Promise<void>): Promise<void> {
  const question = { title: "Cancel this job?", text: "Pages that were read so far are kept.", action: "Cancel job" };
  if (!(await confirmed(question))) return;
  try {
    await call("DELETE", path);
    say("The job is cancelled.");
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), "danger");
  }
  await afterwards();
}

/** All details of a job, updated while it runs. `isEscapable`: Escape asks whether to cancel it. */
export function JobPanel({ id, isEscapable = false }: { id: string; isEscapable?: boolean }) {
  const { value, problem, reload } = useLive<JobView>(`/jobs/${id}`, isOpenJob);
  const job = value.value;
  const cancel = () => cancelJob(`/jobs/${id}`, reload);
  useEscape(isEscapable && job !== undefined && isOpenJob(job), () => void cancel());
  return (
    <>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {job !== undefined && (
        <>
          <Summary job={job} cancel={cancel} />
          {job.error !== null && (
            <Notice kind="danger">
              {job.error.message} <code>{job.error.code}</code>
            </Notice>
          )}
          {job.result !== null && <Result job={job} result={job.result} />}
          <Failures job={job} />
          <Pages job={job} />
        </>
      )}
    </>
  );
}

function Summary({ job, cancel }: { job: JobView; cancel: () => Promise<void> }) {
  const download = (format: string) => `${API}/jobs/${job.id}/download?format=${format}`;
  return (
    <section class="card" aria-label="Progress">
      <div class="row between">
        <p class="row" role="status">
          <JobState state={job.state} />
          <JobProgress job={job} />
        </p>
        <div class="row">
          {isOpenJob(job) && (
            <button type="button" class="danger" onClick={cancel}>
              Cancel job
            </button>
          )}
          <a class="button" href={download("json")} download={`${job.id}.json`}>
            Download JSON
          </a>
          {job.has_files && (
            <a class="button" href={download("zip")} download={`${job.id}.zip`}>
              Download Markdown
            </a>
          )}
        </div>
      </div>
      <dl class="facts">
        <dt>{job.urls > 1 ? "Addresses" : "Address"}</dt>
        <dd>
          {job.url}
          {job.urls > 1 && ` and ${job.urls - 1} more`}
        </dd>
        <dt>Started</dt>
        <dd>
          <When iso={job.created_at} />
        </dd>
        <dt>{isOpenJob(job) ? "Kept until" : "Expires"}</dt>
        <dd>
          <When iso={job.expires_at} />
        </dd>
        <dt>Credits</dt>
        <dd>{job.credits}</dd>
        <dt>Id</dt>
        <dd>
          <code>{job.id}</code>
        </dd>
      </dl>
      <details>
        <summary>Request</summary>
        <Code text={JSON.stringify(job.input, null, 2)} what="the parameters" />
      </details>
    </section>
  );
}

function Result({ job, result }: { job: JobView; result: Readonly<Record<string, unknown>> }) {
  if (job.kind !== "llmstxt")
    return (
      <section class="page" aria-labelledby="job-result">
        <h2 id="job-result">Result</h2>
        <Code text={JSON.stringify(result, null, 2)} what="the result" />
      </section>
    );
  const texts = (["llmstxt", "llmsfulltxt"] as const).flatMap((name) => {
    const text = result[name];
    return typeof text === "string" ? [[name === "llmstxt" ? "llms.txt" : "llms-full.txt", text] as const] : [];
  });
  return (
    <section class="card" aria-labelledby="job-result">
      <h2 id="job-result">Result</h2>
      <Tabs
        label="File"
        names={["Rendered", ...texts.map(([name]) => name)]}
        panel={(index) =>
          index === 0 ? (
            <Markdown text={texts[0]?.[1] ?? ""} base={job.url} />
          ) : (
            <Code text={texts[index - 1]?.[1] ?? ""} what={texts[index - 1]?.[0] ?? ""} />
          )
        }
      />
    </section>
  );
}

function Failures({ job: { errors } }: { job: JobView }) {
  if (errors.length === 0) return null;
  return (
    <section aria-labelledby="job-errors" class="page">
      <h2 id="job-errors">{errors.length === 1 ? "1 page failed" : `${errors.length} pages failed`}</h2>
      <Table
        caption="Pages that failed"
        rows={errors}
        keyOf={({ url, code }) => `${url} ${code}`}
        columns={[
          { head: "Page", class: "long", cell: ({ url }) => url },
          {
            head: "Why",
            cell: ({ message, code }) => (
              <span>
                {message} <code>{code}</code>
              </span>
            ),
          },
        ]}
      />
    </section>
  );
}

function Pages({ job }: { job: JobView }) {
  const good = job.pages.map((page, index) => ({ ...page, index })).filter(({ failed }) => !failed);
  if (good.length === 0)
    return job.errors.length > 0 ? null : (
      <Empty>{isOpenJob(job) ? "No page was read yet." : "No page was read."}</Empty>
    );
  return (
    <section aria-labelledby="job-pages" class="page">
      <h2 id="job-pages">{good.length === 1 ? "1 page" : `${good.length} pages`}</h2>
      <ul class="job-pages">
        {good.map(({ url, bytes, index }) => (
          <li key={index}>
            {job.kind === "crawl" ? (
              <Page job={job} index={index} url={url} bytes={bytes} />
            ) : (
              <span class="long">{url}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A page of the result. Its content is loaded when it is opened. */
function Page(props: { job: JobView; index: number; url: string; bytes: number }) {
  const { job, index, url, bytes } = props;
  const isOpen = useSignal(false);
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>
        <span class="long">{url}</span> <small>{formatBytes(bytes)}</small>
      </summary>
      {isOpen.value && <PageContent path={`/jobs/${job.id}/pages/${index}`} />}
    </details>
  );
}

function PageContent({ path }: { path: string }) {
  const { value, problem } = useLoad<JobPageView>(path);
  if (problem.value !== undefined) return <Notice kind="danger">{problem.value}</Notice>;
  const page = value.value;
  if (page === undefined) return null;
  const markdown = typeof page["markdown"] === "string" ? page["markdown"] : undefined;
  const views = ["Rendered", "Markdown", "JSON"].slice(markdown === undefined ? 2 : 0);
  return (
    <div class="card">
      <Tabs
        label="View"
        names={views}
        panel={(at) => {
          if (views[at] === "Rendered") return <Markdown text={markdown ?? ""} base={page.url} />;
          if (views[at] === "Markdown") return <Code text={markdown ?? ""} what="the Markdown" />;
          return <Code text={JSON.stringify(page, null, 2)} what="the page" />;
        }}
      />
    </div>
  );
}
