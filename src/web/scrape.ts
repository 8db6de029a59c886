// Reads one page for a request.

import type { PayingPageCaller } from "./caller.ts";
import { loadRequest, pageView } from "./page-view.ts";
import { type Body, readInteger, readShape, readUrl } from "./params.ts";
import { loadSingle, type SinglePageDeps } from "./single-page.ts";

const ENDPOINT = "/v1/scrape";
const TIMEOUT_MS = 60_000;

/** Reads the parameters, loads the page and builds the response. Throws `ApiError` and the errors of loading a page. */
export async function scrape(
  body: Body,
  deps: SinglePageDeps,
  from: PayingPageCaller,
): Promise<Record<string, unknown>> {
  const url = readUrl(body);
  const shape = readShape(body);
  const timeoutMs = readInteger(body, ["timeout_ms", "timeout"], { min: 1000, max: 300_000 }) ?? TIMEOUT_MS;
  const { signal, accountId, explain, keyId, requestId } = from;
  const labeller = deps.labellerFor?.({ keyId, requestId, endpoint: ENDPOINT });
  const request = { ...loadRequest(url, shape, { timeoutMs, signal, accountId }), explain, labeller };
  const page = await loadSingle(request, deps);
  return { success: true, data: pageView(page, shape.formats) };
}
