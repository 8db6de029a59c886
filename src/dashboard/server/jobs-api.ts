// An account's own jobs: list, show one and its pages, cancel, download. Operators see all unfinished jobs with their
// owner and progress, and can cancel them, but do not see their subject.

import { ApiError } from "../../base/errors.ts";
import { isoTime } from "../../base/iso-time.ts";
import type { JobListing, JobPageView, JobRow, JobView, OpenJobRow } from "../contract-jobs.ts";
import { admin, type Endpoint, type MemberRequest, member } from "./endpoint.ts";
import type { KeysApiDeps } from "./keys-api.ts";
import { pulled } from "./pulled.ts";
import { zipped } from "./zip.ts";

/** A job as the web tools report it. */
interface Job {
  readonly id: string;
  readonly kind: string;
  readonly state: JobRow["state"];
  readonly url: string;
  readonly urls: number;
  readonly completed: number;
  readonly total: number;
  readonly failedPages: number;
  readonly stage: string | null;
  readonly credits: number;
  readonly error: JobRow["error"];
  readonly bytes: number;
  readonly hasFiles: boolean;
  readonly createdAtMs: number;
  readonly finishedAtMs: number | null;
  readonly expiresAtMs: number;
}

interface JobRef {
  readonly accountId: string;
  readonly id: string;
}

interface JobPlace {
  readonly createdAtMs: number;
  readonly id: string;
}

export interface JobsApiDeps extends Pick<KeysApiDeps, "note"> {
  /** Undefined stands for a job that does not exist or belongs to another account. */
  readonly jobs: {
    list(accountId: string, page: { before?: JobPlace; limit: number }): Promise<Job[]>;
    read(ref: JobRef): Promise<(Job & Pick<JobView, "pages" | "errors" | "input" | "result">) | undefined>;
    page(ref: JobRef, index: number): Promise<Readonly<Record<string, unknown>> | undefined>;
    cancel(ref: JobRef): Promise<boolean>;
    open(): Promise<(Job & { readonly accountId: string; readonly username: string })[]>;
    cancelAny(id: string): Promise<{ readonly accountId: string; readonly kind: string } | undefined>;
    json(ref: JobRef): Promise<AsyncIterable<string> | undefined>;
    files(ref: JobRef): Promise<AsyncIterable<{ readonly name: string; readonly text: string }> | undefined>;
  };
}

const PER_PAGE = 50;

/** The endpoints of jobs. */
export function jobsApi({ jobs, note }: JobsApiDeps): Endpoint[] {
  return [
    member("GET", "/jobs", async ({ who, query }): Promise<JobListing> => {
      const rows = await jobs.list(who.account.id, { ...placeOf(query), limit: PER_PAGE + 1 });
      const last = rows.length > PER_PAGE ? rows[PER_PAGE - 1] : undefined;
      return {
        data: rows.slice(0, PER_PAGE).map(rowOf),
        next: last === undefined ? null : `${last.createdAtMs}.${last.id}`,
      };
    }),

    member("GET", "/jobs/:id", async (visit): Promise<JobView> => {
      const job = await jobs.read(refOf(visit));
      if (job === undefined) throw notThere();
      const { pages, errors, input, result } = job;
      return { ...rowOf(job), pages, errors, input, result };
    }),

    member("GET", "/jobs/:id/pages/:index", async (visit): Promise<JobPageView> => {
      const index = visit.params["index"] ?? "";
      const page = /^\d{1,6}$/.test(index) ? await jobs.page(refOf(visit), Number(index)) : undefined;
      if (page === undefined) throw notThere();
      return page as JobPageView;
    }),

    member("GET", "/jobs/:id/download", async (visit) => download(jobs, visit)),

    member("DELETE", "/jobs/:id", async (visit) => {
      if (!(await jobs.cancel(refOf(visit)))) throw notThere();
      return { success: true };
    }),

    admin(
      "GET",
      "/admin/jobs",
      async (): Promise<{ data: OpenJobRow[] }> => ({
        data: (await jobs.open()).map(openRowOf),
      }),
    ),

    admin("DELETE", "/admin/jobs/:id", async (visit) => {
      const id = visit.params["id"] ?? "";
      const owner = await jobs.cancelAny(id);
      if (owner === undefined) throw notThere();
      await note("job_cancelled", visit, { job: id, account_id: owner.accountId });
      return { success: true };
    }),
  ];
}

async function download(jobs: JobsApiDeps["jobs"], visit: MemberRequest): Promise<Response> {
  const ref = refOf(visit);
  const format = visit.query.get("format") ?? "json";
  if (format === "json") {
    const pieces = await jobs.json(ref);
    if (pieces === undefined) throw notThere();
    return file(pulled(encoded(pieces)), { name: `${ref.id}.json`, type: "application/json" });
  }
  if (format !== "zip") throw new ApiError("invalid_request", "format: expected json or zip.", { param: "format" });
  const files = await jobs.files(ref);
  if (files !== undefined) return file(zipped(files), { name: `${ref.id}.zip`, type: "application/zip" });
  if ((await jobs.read(ref)) === undefined) throw notThere();
  throw new ApiError("invalid_request", "This job produces no Markdown. Download it as JSON.", { param: "format" });
}

function file(body: ReadableStream<Uint8Array>, { name, type }: { name: string; type: string }): Response {
  return new Response(body, {
    headers: { "content-type": type, "content-disposition": `attachment; filename="${name}"` },
  });
}

async function* encoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of pieces) yield encoder.encode(piece);
}

function placeOf(query: URLSearchParams): { before?: JobPlace } {
  const before = query.get("before");
  if (before === null) return {};
  const [, ms, id] = /^(\d{1,15})\.([\w-]{1,64})$/.exec(before) ?? [];
  if (ms !== undefined && id !== undefined) return { before: { createdAtMs: Number(ms), id } };
  throw new ApiError("invalid_request", "before must be the `next` of the preceding page.", { param: "before" });
}

function refOf({ who, params }: MemberRequest): JobRef {
  return { accountId: who.account.id, id: params["id"] ?? "" };
}

function rowOf(job: Job): JobRow {
  const { id, kind, state, url, urls, completed, total, stage, credits, error, bytes } = job;
  return {
    ...{ id, kind, state, url, urls, completed, total, stage, credits, error, bytes },
    failed_pages: job.failedPages,
    has_files: job.hasFiles,
    created_at: isoTime(job.createdAtMs),
    finished_at: isoTime(job.finishedAtMs),
    expires_at: isoTime(job.expiresAtMs),
  };
}

function openRowOf(job: Job & { readonly accountId: string; readonly username: string }): OpenJobRow {
  const { id, kind, state, completed, total, failed_pages, stage, created_at } = rowOf(job);
  return {
    ...{ id, kind, state, completed, total, failed_pages, stage, created_at },
    account_id: job.accountId,
    username: job.username,
  };
}

function notThere(): ApiError {
  return new ApiError("job_not_found", "There is no such job: it may have expired.");
}
