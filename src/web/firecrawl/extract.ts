// Extraction in Firecrawl's format, as a job of our own kind.

import { type ExtractJobsDeps, pollExtract, startExtract } from "../extract/jobs.ts";
import { type Body, checkUrl, readBoolean, readTexts } from "../params.ts";
import type { WaitedJobRef } from "../waited-jobs.ts";
import { scrapeOptions } from "./crawl-input.ts";
import { warningOf } from "./options.ts";
import type { FirecrawlAsker } from "./scrape.ts";

/** Starting answers at once, while the job continues. */
const WAIT_MS = 1;
const UNMET = ["enableWebSearch", "agent", "webhook", "zeroDataRetention"];

/** `POST /v2/extract` */
export async function startExtractForFirecrawl(
  body: Body,
  deps: ExtractJobsDeps,
  from: FirecrawlAsker,
): Promise<Record<string, unknown>> {
  const { urls, unmet, left } = readAddresses(body);
  const told = warningOf([
    ...unmet,
    ...UNMET.filter((name) => body[name] !== undefined && body[name] !== null && body[name] !== false),
    ...Object.keys(scrapeOptions(body))
      .filter((name) => name !== "onlyMainContent")
      .map((name) => `scrapeOptions.${name}`),
  ]);
  // The prompt may be missing where there is a schema.
  const asked = { ...body, ...(urls === undefined ? {} : { urls }), documents: true, origin: "v2" };
  const { id } = await startExtract(asked, { ...from, deps, waitMs: WAIT_MS });
  return {
    success: true,
    id,
    ...(left.length === 0 ? {} : { invalidURLs: left }),
    ...(told === undefined ? {} : { warning: told }),
  };
}

/** In Firecrawl's API an address that ends in `/*` stands for a site; here it stands for the site's first page. */
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

/** `GET /v2/extract/{id}` */
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
