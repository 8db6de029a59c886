// The account's jobs, latest first, and the page of one of them.

import { useSignal } from "@preact/signals";
import type { JobListing, JobRow } from "../../contract-jobs.ts";
import { call } from "../api.ts";
import { useLive } from "../live.ts";
import { cancelJob, isOpenJob, JobPanel, kindName } from "../parts/job.tsx";
import { CancelButton, JOB_COLUMNS } from "../parts/job-columns.tsx";
import { Empty, Notice, say } from "../parts/notice.tsx";
import { Table } from "../parts/table.tsx";
import { When } from "../parts/time.tsx";
import { Title } from "../parts/title.tsx";
import { hrefOf, path } from "../router.ts";

export function JobsPage() {
  const { value, problem, reload } = useLive<JobListing>("/jobs", ({ data }) => data.some(isOpenJob));
  const older = useSignal<JobListing | undefined>(undefined);
  const first = value.value;
  const next = older.value === undefined ? first?.next : older.value.next;
  // New jobs are added to the first page; the other pages stay unchanged.
  const known = new Set(first?.data.map(({ id }) => id));
  const rows = [...(first?.data ?? []), ...(older.value?.data ?? []).filter(({ id }) => !known.has(id))];
  const more = async () => {
    try {
      const page = await call<JobListing>("GET", `/jobs?before=${next}`);
      older.value = { ...page, data: [...(older.value?.data ?? []), ...page.data] };
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "danger");
    }
  };
  return (
    <>
      <Title>Jobs</Title>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {first !== undefined && rows.length === 0 && (
        <Empty>No jobs. Crawls, extractions and llms.txt files that you start are listed here until they expire.</Empty>
      )}
      {rows.length > 0 && <JobTable rows={rows} reload={reload} />}
      {next !== undefined && next !== null && (
        <div class="row">
          <button type="button" onClick={more}>
            Older
          </button>
        </div>
      )}
    </>
  );
}

function JobTable({ rows, reload }: { rows: readonly JobRow[]; reload: () => Promise<void> }) {
  return (
    <Table
      caption="Jobs"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { head: "Job", cell: (job) => <JobLink of={job} /> },
        ...JOB_COLUMNS,
        { head: "Expires", cell: ({ expires_at: at }) => <When iso={at} /> },
        {
          head: "Actions",
          actions: true,
          cell: (job) =>
            isOpenJob(job) && (
              <CancelButton
                what={`${kindName(job.kind)} of ${job.url}`}
                cancel={() => cancelJob(`/jobs/${job.id}`, reload)}
              />
            ),
        },
      ]}
    />
  );
}

function JobLink({ of: { id, kind, url, urls } }: { of: JobRow }) {
  return (
    <a class="job-link" href={hrefOf(`/jobs/${id}`)}>
      <span>{kindName(kind)}</span>{" "}
      <span class="job-url" title={url}>
        {url}
        {urls > 1 && ` and ${urls - 1} more`}
      </span>
    </a>
  );
}

export function OneJobPage() {
  const id = path.value.split("/").at(-1) ?? "";
  const kind = id.split("_")[0] ?? "";
  const all = (
    <a class="button" href={hrefOf("/jobs")}>
      All jobs
    </a>
  );
  return (
    <>
      <Title actions={all}>{kindName(kind)}</Title>
      <JobPanel id={id} />
    </>
  );
}
