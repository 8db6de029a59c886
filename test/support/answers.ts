// Records the failed requests that the tested programs answered, which scripts/test.ts compares with the OpenAPI
// document.

import { appendFileSync } from "node:fs";
import { ENDPOINTS } from "../../src/app/endpoints.ts";
import { HOSTED_PATHS } from "../../src/web/firecrawl/hosted.ts";

/** The limit of a path's length in log lines; the end of a longer path is missing. */
const LOGGED_PATH_CHARS_MAX = 200;

const file = process.env["TEST_ANSWERS"];
const noted = new Set<string>();

/**
 * The documented paths in the order of the router's preference: plain ones, then those with parameters, then wildcards.
 */
const ROUTES = ENDPOINTS.map(({ method, path }) => ({
  method,
  path,
  pattern: new RegExp(`^${path.replace(/[.]/g, "\\.").replace(/:\w+/g, "[^/]+").replaceAll("*", ".*")}$`),
})).sort((one, other) => openness(one.path) - openness(other.path) || other.path.length - one.path.length);

/** Reads a log line. Each failure of a documented endpoint is recorded once, as `METHOD path status code`. */
export function noteAnswer({ msg, method: asked, path, status, error }: Record<string, unknown>): void {
  if (file === undefined || msg !== "request" || typeof status !== "number" || status < 400) return;
  if (typeof path !== "string" || path.length >= LOGGED_PATH_CHARS_MAX) return;
  // This path is not documented, but `/v2/crawl/:id` would match it.
  if (HOSTED_PATHS.some((hosted) => path === hosted || path.startsWith(`${hosted}/`))) return;
  const method = asked === "HEAD" ? "GET" : asked;
  const route = ROUTES.find((one) => one.method === method && one.pattern.test(path));
  if (route === undefined) return;
  const line = `${method} ${route.path} ${status} ${error ?? "none"}\n`;
  if (noted.has(line)) return;
  noted.add(line);
  // Several processes append to the file, so each write consists of whole lines.
  appendFileSync(file, line);
}

function openness(path: string): number {
  if (path.includes("*")) return 2;
  return path.includes(":") ? 1 : 0;
}
