// Pages of the jobs of Firecrawl's clients: how each is loaded, and the document that is stored of it. What a job holds in
// memory alone, its headers, is here.

import { ApiError } from "../../base/errors.ts";
import type { LoadedPage, LoadRequest } from "../../pages/load.ts";
import { asWebError } from "../failure.ts";
import type { FirecrawlJob } from "./crawl-input.ts";
import { documentOf, loadingOf } from "./document.ts";
import { needsReading, type Reading, type ReadingDeps, readPage } from "./reading.ts";

/** A job, as far as its pages depend on it. */
export interface PagesJob {
  readonly id: string;
  readonly accountId: string;
}

/** What is held of a job while the program runs. */
export interface HeldHeaders {
  readonly page: Readonly<Record<string, string>>;
  readonly webhook: Readonly<Record<string, string>>;
}

/** Headers of jobs. */
export interface JobHeaders {
  hold(id: string, headers: HeldHeaders): void;
  find(id: string): HeldHeaders | undefined;
  drop(id: string): void;
}

/** How the pages of such jobs are read. */
export interface JobPages {
  /** Throws where what the job holds in memory is gone. */
  loading(job: PagesJob, input: FirecrawlJob, page: { url: string; signal: AbortSignal }): LoadRequest;
  document(
    job: PagesJob,
    input: FirecrawlJob,
    page: { loaded: LoadedPage; url: string; signal: AbortSignal },
  ): Promise<Readonly<Record<string, unknown>>>;
}

/** Jobs whose headers are held at once; far more than run. */
const JOBS_MAX = 10_000;
/** What ends a job: it is not the page's fault. */
const FATAL: ReadonlySet<string> = new Set(["budget_exceeded", "invalid_api_key"]);

/** Holds headers until a job has ended. */
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

/** Makes them. */
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
