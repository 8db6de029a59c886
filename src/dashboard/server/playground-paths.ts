// The paths of the playground, and the endpoints of the public API that they stand for.

import { API } from "../contract.ts";

/** By path below the dashboard's API. */
export const PLAYGROUND_PATHS = {
  "/playground": "/v1/chat/completions",
  "/playground/responses": "/v1/responses",
  "/playground/messages": "/v1/messages",
  "/playground/decisions": "/v1/decisions",
  "/playground/web/scrape": "/v1/scrape",
  "/playground/web/map": "/v1/map",
  "/playground/web/crawl": "/v1/crawl",
  "/playground/web/search": "/v1/search",
  "/playground/web/extract": "/v1/extract",
  "/playground/web/llmstxt": "/v1/llmstxt",
} as const;

/** A path of the playground. */
export type PlaygroundPath = keyof typeof PLAYGROUND_PATHS;

const BY_WHOLE_PATH = new Map<string, string>(
  Object.entries(PLAYGROUND_PATHS).map(([path, endpoint]) => [API + path, endpoint]),
);

/** The endpoint of a request as the log shows it: that of the public API also for requests of the playground. */
export function loggedEndpoint(path: string): string {
  return BY_WHOLE_PATH.get(path) ?? path;
}
