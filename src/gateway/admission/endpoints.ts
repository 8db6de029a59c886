// What the HTTP edge needs to know about the endpoints of client formats: the format of their errors, and where a key may be sent
// as `x-api-key`. Nearly all of it comes from the list of formats.

import { pathOf } from "../../http/path.ts";
import type { EdgeTraits } from "../../wire/format.ts";
import { WIRE_FORMATS } from "../../wire/index.ts";

const withTraits = WIRE_FORMATS.flatMap(({ path: own, edge }) =>
  edge === undefined ? [] : [own, ...(edge.alsoAt ?? [])].map((path) => ({ path, edge })),
);
const keyPaths = WIRE_FORMATS.flatMap(({ edge }) => edge?.xApiKeyPaths ?? []);

/** The properties of the format to whose endpoint the path belongs; undefined for most paths. */
export function edgeTraits(path: string): EdgeTraits | undefined {
  for (const { path: root, edge } of withTraits) if (isAt(path, root)) return edge;
  return undefined;
}

/** This path accepts such keys too, as clients of the Model Context Protocol send them. */
const MCP_PATH = "/mcp";

/** Whether a key may be sent as `x-api-key`. */
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
