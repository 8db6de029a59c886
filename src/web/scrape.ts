// One page on request.

import type { LoadPage } from "../pages/load.ts";
import { loadRequest, pageView } from "./page-view.ts";
import { type Body, readInteger, readShape, readUrl } from "./params.ts";

const TIMEOUT_MS = 60_000;

/** Reads the parameters, loads the page and gives the answer. Throws `ApiError` and what loading throws. */
export async function scrape(body: Body, load: LoadPage, signal: AbortSignal): Promise<Record<string, unknown>> {
  const url = readUrl(body);
  const shape = readShape(body);
  const timeoutMs = readInteger(body, ["timeout_ms", "timeout"], { min: 1000, max: 300_000 }) ?? TIMEOUT_MS;
  const page = await load(loadRequest(url, shape, { timeoutMs, signal }));
  return { success: true, data: pageView(page, shape.formats) };
}
