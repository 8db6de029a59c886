// Every documented endpoint, one line per room. The dashboard's own API is left out: it is for the dashboard only and changes
// with it.

import { PROJECT_ENDPOINTS } from "../accounts/projects/routes.ts";
import { ACCOUNT_ENDPOINTS } from "../accounts/routes.ts";
import { VERSION } from "../base/version.ts";
import { CATALOG_ENDPOINTS } from "../catalog/routes.ts";
import { DECISION_ENDPOINTS } from "../decisions/api/routes.ts";
import { openApiDocument } from "../docs/document.ts";
import { DOCS_ENDPOINTS } from "../docs/routes.ts";
import { MANAGED_KEY_ENDPOINTS } from "../gateway/endpoints/managed-keys/routes.ts";
import { OWN_KEY } from "../gateway/endpoints/own-key/routes.ts";
import { RUN_ENDPOINTS } from "../gateway/endpoints/runs/routes.ts";
import { USAGE_REPORT_ENDPOINTS } from "../gateway/endpoints/usage-report/routes.ts";
import { GATEWAY_ENDPOINTS } from "../gateway/routes.ts";
import type { ApiEndpoint } from "../http/endpoint.ts";
import { descriptionsOf } from "../http/served-endpoint.ts";
import { MCP_ENDPOINTS } from "../mcp/routes.ts";
import { STATUS_ENDPOINTS } from "../status/routes.ts";
import { FIRECRAWL_ENDPOINTS } from "../web/firecrawl/routes.ts";
import { WEB_ENDPOINTS } from "../web/routes.ts";
import { PATHS } from "./paths.ts";

/** All documented endpoints. */
export const ENDPOINTS: readonly ApiEndpoint[] = [
  ...descriptionsOf(USAGE_REPORT_ENDPOINTS),
  ...descriptionsOf([...GATEWAY_ENDPOINTS, ...OWN_KEY, ...RUN_ENDPOINTS, ...CATALOG_ENDPOINTS]),
  ...descriptionsOf(MANAGED_KEY_ENDPOINTS),
  ...descriptionsOf(DECISION_ENDPOINTS),
  ...descriptionsOf([...WEB_ENDPOINTS, ...FIRECRAWL_ENDPOINTS]),
  ...descriptionsOf(MCP_ENDPOINTS),
  ...descriptionsOf([...ACCOUNT_ENDPOINTS, ...PROJECT_ENDPOINTS]),
  ...descriptionsOf([...STATUS_ENDPOINTS, ...DOCS_ENDPOINTS]),
];

let last: { readonly server: string; readonly document: Record<string, unknown> } | undefined;

/** The OpenAPI document of a gateway at the address `server`; cached, as nearly all clients use the same one. */
export function openApi(server: string): Record<string, unknown> {
  if (last?.server !== server) {
    const document = openApiDocument({ version: VERSION, server, endpoints: ENDPOINTS, isClosable: PATHS.isClosable });
    last = { server, document };
  }
  return last.document;
}
