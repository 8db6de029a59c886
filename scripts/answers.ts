// Compares the failed requests of a test run with the OpenAPI document, which must document each status and code of an
// endpoint.

import { ENDPOINTS } from "../src/app/endpoints.ts";
import { PATHS } from "../src/app/paths.ts";
import { errorsOf, mayFailOtherwise } from "../src/docs/errors.ts";

/** The router's answers at other addresses, which a documented path with parameters also matches. */
const OF_OTHERS = new Set(["route_not_found", "method_not_allowed", "not_offered"]);

/** The log's status for a request that its client aborted, so nobody received an answer. */
const CLIENT_GONE = "499";

/**
 * The lines `METHOD path status code` (written by test/support/answers.ts) that the document lacks. Routes outside the
 * document are left out: pages, the dashboard's API, endpoints that are not offered, and routes that a test adds.
 */
export function undocumented(seen: string): string[] {
  const lines = [...new Set(seen.split("\n"))].filter((line) => {
    const [method, path = "", status, code = ""] = line.split(" ");
    const endpoint = ENDPOINTS.find((one) => one.method === method && one.path === path);
    if (endpoint === undefined || status === CLIENT_GONE) return false;
    if (OF_OTHERS.has(code) && /[:*]/.test(path)) return false;
    if (code === "none" && mayFailOtherwise(endpoint, Number(status))) return false;
    const codes: readonly string[] = errorsOf(endpoint, PATHS.isClosable(path)).get(Number(status)) ?? [];
    return !codes.includes(code);
  });
  return lines.sort();
}
