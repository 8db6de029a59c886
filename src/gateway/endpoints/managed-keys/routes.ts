// Keys of others, for holders of management keys: /v1/keys, and the same in OpenRouter's format. What the endpoints do is loaded
// with the first request.

import type { AtOnce } from "../../../base/at-once.ts";
import { lazily } from "../../../base/lazily.ts";
import type { ApiEndpoint } from "../../../http/endpoint.ts";
import { endpointsBehind, type ServedEndpoint } from "../../../http/served-endpoint.ts";
import type { Caller } from "../../admission/caller.ts";
import { gatewayText } from "../texts.ts";
import type { ManagedHandler, ManagedKeysDeps } from "./deps.ts";

/** What the endpoints need. */
export interface ManagedKeysRoutesDeps extends ManagedKeysDeps {
  /** Identifies the caller by a management key. Throws 401 and 403. */
  authenticateManager(request: Request): AtOnce<Caller>;
}

const handlers = lazily(() => {
  const { MANAGED_KEYS }: typeof import("./handlers.ts") = require("./handlers.ts");
  return MANAGED_KEYS;
});
const openRouter = lazily(() => {
  const { OPENROUTER_KEYS }: typeof import("./open-router.ts") = require("./open-router.ts");
  return OPENROUTER_KEYS;
});

const managed = endpointsBehind("management", (deps: ManagedKeysRoutesDeps, request) =>
  deps.authenticateManager(request),
);

const KEYS = "/v1/keys";
const OPENROUTER = "/api/v1/keys";

function endpoint<Name extends string>(
  [method, path, id, name]: readonly [ApiEndpoint["method"], string, Parameters<typeof gatewayText>[0], Name],
  find: () => Readonly<Record<Name, ManagedHandler>>,
): ServedEndpoint<ManagedKeysRoutesDeps> {
  return managed(method, path, {
    describe: gatewayText(id),
    handle: (deps, call) => find()[name](deps, call),
  });
}

/** The endpoints. */
export const MANAGED_KEY_ENDPOINTS: readonly ServedEndpoint<ManagedKeysRoutesDeps>[] = [
  endpoint(["GET", KEYS, "listKeys", "list"], handlers),
  endpoint(["POST", KEYS, "createKey", "create"], handlers),
  endpoint(["GET", `${KEYS}/:id`, "getKey", "get"], handlers),
  endpoint(["PATCH", `${KEYS}/:id`, "updateKey", "update"], handlers),
  endpoint(["DELETE", `${KEYS}/:id`, "deleteKey", "remove"], handlers),
  endpoint(["POST", `${KEYS}/:id/rotate`, "rotateKey", "rotate"], handlers),
  endpoint(["GET", OPENROUTER, "listOpenRouterKeys", "list"], openRouter),
  endpoint(["POST", OPENROUTER, "createOpenRouterKey", "create"], openRouter),
  endpoint(["GET", `${OPENROUTER}/:id`, "getOpenRouterKeyByHash", "get"], openRouter),
  endpoint(["PATCH", `${OPENROUTER}/:id`, "updateOpenRouterKey", "update"], openRouter),
  endpoint(["DELETE", `${OPENROUTER}/:id`, "deleteOpenRouterKey", "remove"], openRouter),
];
