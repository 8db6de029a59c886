// Loads the pages of jobs and builds the documents that are stored for them. Also holds the headers of jobs, which are only kept
// in memory.

import { ApiError } from "../../base/errors.ts";
import type { LoadedPage, LoadRequest } from "../../pages/load.ts";
import { asWebError } from "../failure.ts";
import type { FirecrawlJob } from "./crawl-input.ts";
import { documentOf, loadingOf } from "./document.ts";
import { needsReading, type Reading, type ReadingDeps, readPage } from "./reading.ts";

/** The part of a job on which its pages depend. */
export interface PagesJob {
  readonly id: string;
  readonly accountId: string;
}

/** The part of a job that is held in memory while the program runs. */
export interface HeldHeaders {
  readonly page: Readonly<Record<string, string>>;
  readonly webhook: Readonly<Record<string, string>>;
}

/** The headers of jobs. */
export interface JobHeaders {
  hold(id: string, headers: HeldHeaders): void;
  find(id: string): HeldHeaders | undefined;
  drop(id: string): void;
}

/** Reads the pages of such jobs. */
export interface JobPages {
  /** Throws if the headers of the job were lost in a restart. */
  loading(job: PagesJob, input: FirecrawlJob, page: { url: string; signal: AbortSignal }): LoadRequest;
  document(
    job: PagesJob,
    input: FirecrawlJob,
    page: { loaded: LoadedPage; url: string; signal: AbortSignal },
  ): Promise<Readonly<Record<string, unknown>>>;
}

/** Maximum number of jobs whose headers are held at once, far more than can run. */
const JOBS_MAX = 10_000;
/** Codes of errors that end the whole job, since they are not caused by the page. */
const FATAL: ReadonlySet<string> = new Set(["budget_exceeded", "invalid_api_key"]);

/** Creates the memory for the headers of jobs, which are held until the job has ended. */
export function createJobHeaders(): JobHeaders {
  const held = new Map<string, HeldHeaders>();
  return {
    hold(id, headers) {
      if (Object.keys(headers.page).length + Object.keys(headers.webhook).length === 0) return;
      const oldest = held.keys().next().value;
      if (held.size >= JOBS_MAX && oldest !== undefined) held.delete(oldest);
      held.set(id, headers);
    },
    find: (id) => held.get(id),
    drop: (id) => void held.delete(id),
  };
}

/** Creates the loader of pages. */
export function createJobPages(
  deps: ReadingDeps & { readonly headers: JobHeaders; readonly endpoint: string },
): JobPages {
  return {
    loading(job, { options, hasHeaders }, { url, signal }) {
      const held = deps.headers.find(job.id);
      if (hasHeaders && held === undefined)
        throw new ApiError(
          "crawl_unavailable",
          "The headers of this job were held in memory by a program that has ended. Start the job again.",
        );
      return loadingOf(url, { options, headers: held?.page ?? {} }, { signal, accountId: job.accountId });
    },
    async document(job, { options, keyId, requestId }, { loaded, url, signal }) {
      const payer = { keyId, requestId, endpoint: deps.endpoint };
      let reading: Reading | undefined;
      if (needsReading(options.formats))
        reading = await readPage(loaded, options.formats, { payer, accountId: job.accountId, signal }, deps).catch(
          (error: unknown) => {
            signal.throwIfAborted();
            const known = asWebError("extract", error);
            if (FATAL.has(known.apiCode)) throw known;
            return { warnings: [known.message] };
          },
        );
      return documentOf(loaded, { url, options, scrapeId: `${job.id}/${crypto.randomUUID()}`, reading });
    },
  };
}
