// What tables of jobs share, for members and for admins.

import type { OpenJobRow } from "../../contract-jobs.ts";
import { JobProgress, JobState } from "./job.tsx";
import type { Column } from "./table.tsx";
import { When } from "./time.tsx";

/** How far a job is, and since when. */
export const JOB_COLUMNS: readonly Column<Omit<OpenJobRow, "account_id" | "username">>[] = [
  { head: "State", cell: ({ state }) => <JobState state={state} /> },
  { head: "Pages", cell: (job) => <JobProgress job={job} /> },
  { head: "Failed", class: "number", cell: ({ failed_pages: failed }) => (failed === 0 ? "–" : failed) },
  { head: "Started", cell: ({ created_at: at }) => <When iso={at} /> },
];

/** A button that cancels a job; `what` names it for screen readers. */
export function CancelButton({ what, cancel }: { what: string; cancel: () => Promise<void> }) {
  return (
    <button type="button" class="quiet danger" aria-label={`Cancel ${what}`} onClick={cancel}>
      Cancel
    </button>
  );
}
