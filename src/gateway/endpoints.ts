// What the edge must know of the client formats' endpoints: how their errors look, and where a key may be sent as
// `x-api-key`. Nearly everything comes from the list of formats.

import { pathOf } from "../http/path.ts";
import type { EdgeTraits } from "../wire/format.ts";
import { WIRE_FORMATS } from "../wire/index.ts";

const withTraits = WIRE_FORMATS.flatMap(({ path, edge }) => (edge === undefined ? [] : [{ path, edge }]));
const keyPaths = withTraits.flatMap(({ edge }) => edge.xApiKeyPaths ?? []);

/** What the format whose endpoint the path is, or is below, says of it; undefined for most. */
export function edgeTraits(path: string): EdgeTraits | undefined {
  for (const { path: root, edge } of withTraits) if (isAt(path, root)) return edge;
  return undefined;
}

/** Beside the formats': clients of the Model Context Protocol are used to it. */
const MCP_PATH = "/mcp";

/** Whether `x-api-key` counts as a key does. */
export function takesXApiKey(request: Request): boolean {
  const path = pathOf(request.url);
  if (path === MCP_PATH) return true;
  return keyPaths.some(
    ({ path: root, with: header }) => isAt(path, root) && (header === undefined || request.headers.has(header)),
  );
}

function isAt(path: string, root: string): boolean {
  return path.startsWith(root) && (path.length === root.length || path[root.length] === "/");
}
