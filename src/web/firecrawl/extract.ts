// Extraction in Firecrawl's format, run as an ordinary extraction job.

import type { JobCaller } from "../caller.ts";
import { type ExtractJobsDeps, pollExtract, startExtract } from "../extract/jobs.ts";
import { type Body, checkUrl, readBoolean, readTexts } from "../params.ts";
import type { WaitedJobRef } from "../waited-jobs.ts";
import { scrapeOptions } from "./crawl-input.ts";
import { warningOf } from "./options.ts";

/** How long the start of a job waits: it answers immediately, while the job continues. */
const WAIT_MS = 1;
const UNMET = ["enableWebSearch", "agent", "webhook", "zeroDataRetention"];

/** Answers `POST /v2/extract`. */
export async function startExtractForFirecrawl(
  body: Body,
  deps: ExtractJobsDeps,
  from: JobCaller,
): Promise<Record<string, unknown>> {
  const { urls, unmet, left } = readAddresses(body);
  const told = warningOf([
    ...unmet,
    ...UNMET.filter((name) => body[name] !== undefined && body[name] !== null && body[name] !== false),
    ...Object.keys(scrapeOptions(body))
      .filter((name) => name !== "onlyMainContent")
      .map((name) => `scrapeOptions.${name}`),
  ]);
  // If there is a schema, the prompt may be missing.
  const asked = { ...body, ...(urls === undefined ? {} : { urls }), documents: true, origin: "v2" };
  const { id } = await startExtract(asked, { ...from, deps, waitMs: WAIT_MS });
  return {
    success: true,
    id,
    ...(left.length === 0 ? {} : { invalidURLs: left }),
    ...(told === undefined ? {} : { warning: told }),
  };
}

/** In Firecrawl's API, an address that ends in `/*` means a whole site. Here only the first page of that site is read. */
function readAddresses(body: Body): { urls?: string[]; unmet: string[]; left: string[] } {
  const given = readTexts(body, ["urls"]);
  if (given === undefined) return { unmet: [], left: [] };
  const plain = given.map((url) => url.replace(/\/\*$/, "/"));
  const unmet = plain.some((url, index) => url !== given[index]) ? ["urls: /*"] : [];
  if (!readBoolean(body, ["ignoreInvalidURLs"], false)) return { urls: plain, unmet, left: [] };
  const isGood = (url: string) => {
    try {
      return /^https?:/i.test(checkUrl(url, "urls"));
    } catch {
      return false;
    }
  };
  return { urls: plain.filter(isGood), unmet, left: plain.filter((url) => !isGood(url)) };
}

/** Answers `GET /v2/extract/{id}`. */
export async function extractStatus(ref: WaitedJobRef, deps: ExtractJobsDeps): Promise<Record<string, unknown>> {
  const found = await pollExtract(ref, deps);
  const { success, status, data, error, error_code: code, sources, expiresAt, creditsUsed, warnings } = found;
  const told = (warnings as string[] | undefined) ?? [];
  return {
    ...{ success, status, data, expiresAt, creditsUsed },
    ...(error === undefined ? {} : { error, code }),
    ...(sources === undefined ? {} : { sources }),
    ...(told.length === 0 ? {} : { warning: told.join(" ") }),
  };
}
