// The unfinished jobs of all accounts: their owners and progress, and a button that cancels them.

import type { Listing } from "../../../contract.ts";
import type { OpenJobRow } from "../../../contract-jobs.ts";
import { useLive } from "../../live.ts";
import { cancelJob, JobProgress, JobState, kindName } from "../../parts/job.tsx";
import { Empty, Notice } from "../../parts/notice.tsx";
import { When } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { hrefOf } from "../../router.ts";

/** The page. */
export function OpenJobsPage() {
  const { value, problem, reload } = useLive<Listing<OpenJobRow>>("/admin/jobs", () => true);
  const rows = value.value?.data;
  return (
    <>
      <Title>Running jobs</Title>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {rows?.length === 0 && <Empty>No account has a job under way.</Empty>}
      {rows !== undefined && rows.length > 0 && (
        <div class="table-card">
          <table class="stacks">
            <thead>
              <tr>
                <th>Job</th>
                <th>Account</th>
                <th>State</th>
                <th>Pages</th>
                <th class="number">Failed</th>
                <th>Started</th>
                <th>
                  <span class="off-screen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((job) => (
                <tr key={job.id}>
                  <th scope="row" class="long">
                    {kindName(job.kind)} <code>{job.id}</code>
                  </th>
                  <td data-label="Account" class="long">
                    <a href={hrefOf(`/admin/accounts/${job.account_id}`)}>{job.username}</a>
                  </td>
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
                  <td class="actions">
                    <button
                      type="button"
                      class="quiet danger"
                      aria-label={`Cancel ${job.id} of ${job.username}`}
                      onClick={() => cancelJob(`/admin/jobs/${job.id}`, reload)}
                    >
                      Cancel
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
