// What the pages and the API say to each other of jobs. Types alone.

/** A job in `GET jobs?before=`, latest first. */
export interface JobRow {
  readonly id: string;
  /** `crawl`, `extract`, `llmstxt` or another kind. */
  readonly kind: string;
  readonly state: "queued" | "running" | "completed" | "failed" | "cancelled";
  /** The first address it was given, and how many there were. */
  readonly url: string;
  readonly urls: number;
  readonly completed: number;
  readonly total: number;
  readonly failed_pages: number;
  /** What an llms.txt is at: `mapping`, `reading`, `describing` or `writing`; null for other kinds and for what has ended. */
  readonly stage: string | null;
  readonly credits: number;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly bytes: number;
  /** Can it be had as Markdown files? */
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

/** Answer of `GET jobs/ID`; `DELETE` of the same cancels it. */
export interface JobView extends JobRow {
  /** In the order they came; what one holds is `GET jobs/ID/pages/INDEX`. */
  readonly pages: readonly { readonly url: string; readonly failed: boolean; readonly bytes: number }[];
  readonly errors: readonly { readonly url: string; readonly code: string; readonly message: string }[];
  /** What it was asked for. */
  readonly input: Readonly<Record<string, unknown>>;
  /** What it gave beside its pages; null while it has not. */
  readonly result: Readonly<Record<string, unknown>> | null;
}

/** Answer of `GET jobs/ID/pages/INDEX`: a page of a crawl as `POST /v1/scrape` gives one, with its address. */
export interface JobPageView extends Readonly<Record<string, unknown>> {
  readonly url: string;
  readonly failed: boolean;
}

/** A job of anybody that has not ended, in `GET admin/jobs`: how far it is, not what it is about. */
export interface OpenJobRow
  extends Pick<JobRow, "id" | "kind" | "state" | "completed" | "total" | "failed_pages" | "stage" | "created_at"> {
  readonly account_id: string;
  readonly username: string;
}

/** Answer of `GET webhook-secret` and `POST webhook-secret/renew`. */
export interface WebhookSecretView {
  readonly secret: string;
}
