// Types that the pages and the API share for jobs.

/** A job in `GET jobs?before=`, latest first. */
export interface JobRow {
  readonly id: string;
  /** `crawl`, `extract`, `llmstxt` or another kind. */
  readonly kind: string;
  readonly state: "queued" | "running" | "completed" | "failed" | "cancelled";
  /** The first address that the job was given, and the number of its addresses. */
  readonly url: string;
  readonly urls: number;
  readonly completed: number;
  readonly total: number;
  readonly failed_pages: number;
  /**
   * The step that an llms.txt job has reached: `mapping`, `reading`, `describing` or `writing`; null for other kinds
   * and for jobs that have ended.
   */
  readonly stage: string | null;
  readonly credits: number;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly bytes: number;
  /** Whether its result can be downloaded as Markdown files. */
  readonly has_files: boolean;
  readonly created_at: string;
  readonly finished_at: string | null;
  readonly expires_at: string;
}

/** Answer of `GET jobs`. */
export interface JobListing {
  readonly data: readonly JobRow[];
  /** `before` of the next page; null on the last. */
  readonly next: string | null;
}

/** Answer of `GET jobs/ID`. `DELETE` on the same path cancels the job. */
export interface JobView extends JobRow {
  /** In the order in which they were read; `GET jobs/ID/pages/INDEX` answers with the content of one. */
  readonly pages: readonly { readonly url: string; readonly failed: boolean; readonly bytes: number }[];
  readonly errors: readonly { readonly url: string; readonly code: string; readonly message: string }[];
  /** The request that started the job. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The result apart from the pages; null until there is one. */
  readonly result: Readonly<Record<string, unknown>> | null;
}

/** Answer of `GET jobs/ID/pages/INDEX`: a page of a crawl in the form of `POST /v1/scrape`, with its address. */
export interface JobPageView extends Readonly<Record<string, unknown>> {
  readonly url: string;
  readonly failed: boolean;
}

/** An unfinished job of any account, in `GET admin/jobs`: its progress, but not its subject. */
export interface OpenJobRow
  extends Pick<JobRow, "id" | "kind" | "state" | "completed" | "total" | "failed_pages" | "stage" | "created_at"> {
  readonly account_id: string;
  readonly username: string;
}

/** Answer of `GET webhook-secret` and `POST webhook-secret/renew`. */
export interface WebhookSecretView {
  readonly secret: string;
}
