// What the HTTP edge needs to know about the client formats' endpoints: the shape of their errors, and where a key may be
// sent as `x-api-key`. Nearly everything comes from the list of formats.

import { pathOf } from "../http/path.ts";
import type { EdgeTraits } from "../wire/format.ts";
import { WIRE_FORMATS } from "../wire/index.ts";

const withTraits = WIRE_FORMATS.flatMap(({ path, edge }) => (edge === undefined ? [] : [{ path, edge }]));
const keyPaths = withTraits.flatMap(({ edge }) => edge.xApiKeyPaths ?? []);

/** The properties of the format whose endpoint the path is, or is below; undefined for most paths. */
export function edgeTraits(path: string): EdgeTraits | undefined {
  for (const { path: root, edge } of withTraits) if (isAt(path, root)) return edge;
  return undefined;
}

/** Besides the formats' paths: clients of the Model Context Protocol use it. */
const MCP_PATH = "/mcp";

/** Whether `x-api-key` is accepted as a key. */
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
