// Responses of sites to a job, stored until their page is stored, so that a program that was stopped during the
// conversion need not fetch them again. Only pages in progress have any.

import { and, asc, eq } from "drizzle-orm";
import { packed } from "../../base/packed.ts";
import { byBytes } from "../engine/byte-order.ts";
import type { Store } from "../engine/store.ts";
import type { JobLease } from "./job-hold.ts";
import { jobAnswers } from "./schema.ts";

/** A response and its address. */
export interface JobAnswer {
  readonly asked: string;
  /** The address after redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Verbs over answers. */
export type AnswerStore = ReturnType<typeof answerStore>;

/** The limit of the compressed size. A larger response is not text, or is cheaper to fetch again than to store. */
const BYTES_MAX = 2 * 1024 * 1024;

/** Builds the verbs. */
export function answerStore(store: Store) {
  const { db, statement } = store;
  // Responses for a job that has ended meanwhile are not stored, since they would never be deleted.
  const keep = statement(
    `INSERT INTO job_answers (job_id, url_key, asked, url, status, headers, body)
     SELECT id, $urlKey, $asked, $url, $status, $headers, $body FROM jobs
     WHERE id = $jobId AND lease = $lease AND state = 'running'
     ON CONFLICT (job_id, url_key, asked) DO NOTHING`,
  );
  return {
    /** Stores a response for a page of the frontier; false if it is too large, or the job is not held any more. */
    async keepAnswer({ id: jobId, lease }: JobLease, urlKey: string, answer: JobAnswer): Promise<boolean> {
      const { asked, url, status } = answer;
      const body = await packed(answer.body);
      if (body.byteLength > BYTES_MAX) return false;
      const headers = JSON.stringify([...answer.headers]);
      return (await keep.run({ jobId, urlKey, asked, url, status, headers, body, lease })).changes > 0;
    },

    /** The responses for a page of the frontier. */
    async listAnswers(jobId: string, urlKey: string): Promise<JobAnswer[]> {
      const own = and(eq(jobAnswers.jobId, jobId), eq(jobAnswers.urlKey, urlKey));
      const rows = await db
        .select()
        .from(jobAnswers)
        .where(own)
        .orderBy(asc(byBytes(jobAnswers.asked)))
        .all();
      return Promise.all(
        rows.map(async ({ asked, url, status, headers, body }) => ({
          asked,
          url,
          status,
          headers: new Headers(headers.map(([name, value]): [string, string] => [name, value])),
          body: await Bun.zstdDecompress(body),
        })),
      );
    },
  };
}
