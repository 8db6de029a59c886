// Reads one page for a request.

import type { PageCaller } from "./caller.ts";
import { loadRequest, pageView } from "./page-view.ts";
import { type Body, readInteger, readShape, readUrl } from "./params.ts";
import { loadSingle, type SinglePageDeps } from "./single-page.ts";

const TIMEOUT_MS = 60_000;

/** Reads the parameters, loads the page and builds the response. Throws `ApiError` and the errors of loading a page. */
export async function scrape(body: Body, deps: SinglePageDeps, from: PageCaller): Promise<Record<string, unknown>> {
  const url = readUrl(body);
  const shape = readShape(body);
  const timeoutMs = readInteger(body, ["timeout_ms", "timeout"], { min: 1000, max: 300_000 }) ?? TIMEOUT_MS;
  const { signal, accountId, explain } = from;
  const page = await loadSingle({ ...loadRequest(url, shape, { timeoutMs, signal, accountId }), explain }, deps);
  return { success: true, data: pageView(page, shape.formats) };
}
