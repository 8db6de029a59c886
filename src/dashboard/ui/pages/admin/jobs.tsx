// The unfinished jobs of all accounts: their owners and progress, and a button that cancels them.

import type { Listing } from "../../../contract.ts";
import type { OpenJobRow } from "../../../contract-jobs.ts";
import { useLive } from "../../live.ts";
import { cancelJob, kindName } from "../../parts/job.tsx";
import { CancelButton, JOB_COLUMNS } from "../../parts/job-columns.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Table } from "../../parts/table.tsx";
import { Title } from "../../parts/title.tsx";
import { hrefOf } from "../../router.ts";

export function OpenJobsPage() {
  const { value, problem, reload } = useLive<Listing<OpenJobRow>>("/admin/jobs", () => true);
  return (
    <>
      <Title>Running jobs</Title>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      <Table
        caption="Running jobs"
        rows={value.value?.data}
        keyOf={({ id }) => id}
        empty="No account has a job under way."
        columns={[
          {
            head: "Job",
            class: "long",
            cell: ({ id, kind }) => (
              <>
                {kindName(kind)} <code>{id}</code>
              </>
            ),
          },
          {
            head: "Account",
            class: "long",
            cell: ({ account_id: id, username }) => <a href={hrefOf(`/admin/accounts/${id}`)}>{username}</a>,
          },
          ...JOB_COLUMNS,
          {
            head: "Actions",
            actions: true,
            cell: ({ id, username }) => (
              <CancelButton what={`${id} of ${username}`} cancel={() => cancelJob(`/admin/jobs/${id}`, reload)} />
            ),
          },
        ]}
      />
    </>
  );
}
