// The pages of jobs: how each is loaded, and the document that is stored for it. This also holds the part of a job that
// is kept only in memory, its headers.

import { ApiError } from "../../base/errors.ts";
import type { LoadedPage, LoadRequest } from "../../pages/load.ts";
import { asWebError } from "../failure.ts";
import type { FirecrawlJob } from "./crawl-input.ts";
import { documentOf, loadingOf } from "./document.ts";
import { needsReading, type Reading, type ReadingDeps, readPage } from "./reading.ts";

/** The part of a job that its pages depend on. */
export interface PagesJob {
  readonly id: string;
  readonly accountId: string;
}

/** The part of a job that is held while the program runs. */
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
  /** Throws if the part of the job that was held in memory is lost. */
  loading(job: PagesJob, input: FirecrawlJob, page: { url: string; signal: AbortSignal }): LoadRequest;
  document(
    job: PagesJob,
    input: FirecrawlJob,
    page: { loaded: LoadedPage; url: string; signal: AbortSignal },
  ): Promise<Readonly<Record<string, unknown>>>;
}

/** The limit of jobs whose headers are held at once, far above the number that run. */
const JOBS_MAX = 10_000;
/** Errors that end the whole job, since the page did not cause them. */
const FATAL: ReadonlySet<string> = new Set(["budget_exceeded", "invalid_api_key"]);

/** Holds the headers of a job until it has ended. */
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

/** Creates the reader of pages. */
export function createJobPages(
  deps: ReadingDeps & { readonly headers: JobHeaders; readonly endpoint: string },
): JobPages {
  return {
    loading(job, { options, hasHeaders }, { url, signal }) {
      const held = deps.headers.find(job.id);
      if (hasHeaders && held === undefined)
        throw new ApiError(
          "crawl_unavailable",
          "The headers of this job were held in memory, and the gateway was restarted. Start the job again.",
        );
      return loadingOf(url, { options, headers: held?.page ?? {} }, { signal, accountId: job.accountId });
    },
    async document(job, { options, keyId, requestId }, { loaded, url, signal }) {
      const payer = { keyId, requestId, endpoint: deps.endpoint };
      let reading: Reading | undefined;
      if (needsReading(options.formats))
        reading = await readPage(loaded, options.formats, { payer, signal }, deps).catch((error: unknown) => {
          signal.throwIfAborted();
          const known = asWebError("extract", error);
          if (FATAL.has(known.apiCode)) throw known;
          return { warnings: [known.message] };
        });
      return documentOf(loaded, { url, options, scrapeId: `${job.id}/${crypto.randomUUID()}`, reading });
    },
  };
}
