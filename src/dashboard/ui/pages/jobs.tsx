// The account's jobs, latest first, and the page of one of them.

import { useSignal } from "@preact/signals";
import type { JobListing, JobRow } from "../../contract-jobs.ts";
import { call } from "../api.ts";
import { useLive } from "../live.ts";
import { cancelJob, isOpenJob, JobPanel, JobProgress, JobState, kindName } from "../parts/job.tsx";
import { Empty, Notice, say } from "../parts/notice.tsx";
import { When } from "../parts/time.tsx";
import { Title } from "../parts/title.tsx";
import { hrefOf, path } from "../router.ts";

/** The list. */
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
    <div class="table-card">
      <table class="stacks">
        <thead>
          <tr>
            <th>Job</th>
            <th>State</th>
            <th>Pages</th>
            <th class="number">Failed</th>
            <th>Started</th>
            <th>Expires</th>
            <th>
              <span class="off-screen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((job) => (
            <tr key={job.id}>
              <th scope="row">
                <a class="job-link" href={hrefOf(`/jobs/${job.id}`)}>
                  <span>{kindName(job.kind)}</span>{" "}
                  <span class="job-url" title={job.url}>
                    {job.url}
                    {job.urls > 1 && ` and ${job.urls - 1} more`}
                  </span>
                </a>
              </th>
              <td data-label="State">
                <JobState state={job.state} />
              </td>
              <td data-label="Pages">
                <JobProgress job={job} />
              </td>
              <td data-label="Failed" class="number">
                {job.failed_pages === 0 ? "–" : job.failed_pages}
              </td>
              <td data-label="Started">
                <When iso={job.created_at} />
              </td>
              <td data-label="Expires">
                <When iso={job.expires_at} />
              </td>
              <td class="actions">
                {isOpenJob(job) && (
                  <button
                    type="button"
                    class="quiet danger"
                    aria-label={`Cancel ${kindName(job.kind)} of ${job.url}`}
                    onClick={() => cancelJob(`/jobs/${job.id}`, reload)}
                  >
                    Cancel
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** One job. */
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
