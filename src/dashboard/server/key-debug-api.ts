// Ends the debugging of a key before its time: by the holder of the key, or by operators for any key. Only `sallyport
// key debug` begins it.

import { ApiError } from "../../base/errors.ts";
import type { KeyDebugStore } from "../../store/access/key-debug.ts";
import { admin, type Endpoint, type MemberRequest, member } from "./endpoint.ts";
import type { KeysApiDeps } from "./keys-api.ts";

export interface KeyDebugApiDeps extends Pick<KeysApiDeps, "note" | "keysChanged" | "keys"> {
  readonly keyDebug: Pick<KeyDebugStore, "setKeyDebug">;
}

/** The endpoints. */
export function keyDebugApi(deps: KeyDebugApiDeps): Endpoint[] {
  return [
    member("DELETE", "/keys/:id/debug", (visit) =>
      end(deps, visit, { id: visit.params["id"] ?? "", accountId: visit.who.account.id }),
    ),
    admin("DELETE", "/admin/accounts/:id/keys/:key/debug", (visit) =>
      end(deps, visit, { id: visit.params["key"] ?? "", accountId: visit.params["id"] ?? "" }),
    ),
  ];
}

/** Everything that was recorded is deleted too. */
async function end(
  deps: KeyDebugApiDeps,
  visit: MemberRequest,
  { id, accountId }: { readonly id: string; readonly accountId: string },
) {
  const key = (await deps.keys.listKeys(accountId)).find((one) => one.id === id);
  if (key === undefined || (await deps.keyDebug.setKeyDebug(id, null)) !== "set")
    throw new ApiError("key_not_found", "There is no such key, or it was revoked.");
  deps.keysChanged();
  await deps.note("key_debug_ended", visit, { key_id: id, name: key.name });
  return { success: true };
}
