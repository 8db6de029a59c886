// Opens the records in a body. A vendor's own records restrict the routes to that vendor.

import type { ModelRoute } from "../../../catalog/models.ts";
import type { Provider } from "../../../upstream/provider.ts";
import type { ChatTurn } from "../../centre/stage.ts";
import { nativeRoutes, openRecord } from "./items.ts";
import type { Sealer } from "./seal.ts";

export interface RecordsDeps {
  sealer: Sealer;
  provider(name: string): Provider | undefined;
}

/** The body with the records in it opened; unchanged if there are none. A vendor's own records restrict the routes. */
export function withRecords(
  { sealer, provider }: RecordsDeps,
  { caller, format, routes }: Pick<ChatTurn, "caller" | "format" | "routes">,
  body: Readonly<Record<string, unknown>>,
): { body: Readonly<Record<string, unknown>>; routes?: readonly ModelRoute[] } {
  const { entries } = format;
  if (entries === undefined || !Array.isArray(body[entries.member])) return { body };
  const list = entries.list(body);
  let native: readonly ModelRoute[] | undefined;
  const opened = entries.expand(list, (record, param) => {
    const able = nativeRoutes(routes, format, provider);
    const isNative = able.length > 0;
    const { accountId } = caller;
    const read = openRecord(record, { sealer, accountId, format: format.name, isNative, param });
    if (read === undefined) native = able;
    return read;
  });
  return {
    body: opened === list ? body : { ...body, [entries.member]: opened },
    ...(native === undefined ? {} : { routes: native }),
  };
}
