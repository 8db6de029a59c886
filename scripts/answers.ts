// Holds the failures that a test run saw against the OpenAPI document: each status and code must be documented for its endpoint.

import { ENDPOINTS } from "../src/app/endpoints.ts";
import { PATHS } from "../src/app/paths.ts";
import { errorsOf, mayFailOtherwise } from "../src/docs/errors.ts";

/** The router's answers at other addresses, which a documented path with parameters covers too. */
const OF_OTHERS = new Set(["route_not_found", "method_not_allowed", "not_offered"]);

/** The log's word for a client that left: nobody received it. */
const CLIENT_GONE = "499";

/**
 * Those lines of `METHOD path status code` (test/support/answers.ts writes them) that the document lacks. Routes outside the
 * document are left out: pages, the dashboard's own API, what is not offered, what a test adds.
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
