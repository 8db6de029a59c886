// The same in OpenRouter's format (openrouter.ai/docs/api/api-reference/api-keys): `hash` is the key's id, `limit` its budget,
// `workspace_id` the id of its account.

import { openRouterUsage, RESETS } from "../own-key/key-view.ts";
import type { ManagedHandler } from "./deps.ts";
import { type KeySettings, keySettingsOf, wrong } from "./fields.ts";
import { wholeParameter } from "./handlers.ts";
import { changeManaged, createManaged, describeKey, listManaged, removeManaged, settingsBody } from "./manage.ts";
import type { KnownKey } from "./view.ts";

/** As many as OpenRouter answers at once. */
const PAGE = 100;

function shown({ row, view, spending }: KnownKey) {
  return {
    hash: view.id,
    name: view.name,
    label: view.label,
    disabled: view.disabled,
    ...openRouterUsage(view, spending, row.budgetPeriodMs),
    created_at: view.created_at,
    updated_at: null,
    expires_at: view.expires_at,
    ...{ creator_user_id: null, external_user: null },
    workspace_id: row.accountId,
  };
}

/** Reads the settings under OpenRouter's names. Throws `ApiError` 400. */
function settingsOf(body: Readonly<Record<string, unknown>>, nowMs: number): KeySettings {
  const { name, disabled, limit, expires_at, limit_reset: reset } = body;
  const period = Object.keys(RESETS).find((ms) => RESETS[Number(ms)] === reset);
  if (reset !== undefined && reset !== null && period === undefined)
    throw wrong("limit_reset", `one of ${Object.values(RESETS).join(", ")}, or null`);
  if (limit !== undefined && limit !== null && !(typeof limit === "number" && limit >= 0 && limit <= 1_000_000))
    throw wrong("limit", "a number of US dollars from 0 to 1000000, or null");
  return {
    ...keySettingsOf({ name, disabled, budget: limit, expires_at }, nowMs),
    ...(reset === undefined ? {} : { budgetPeriodMs: period === undefined ? null : Number(period) }),
  };
}

/** The handlers by name. */
export const OPENROUTER_KEYS = {
  list: async (deps, { caller, request }) => {
    const query = new URL(request.url).searchParams;
    const skip = wholeParameter(query, "offset", { least: 0, most: 999_999_999, otherwise: 0 });
    const withDisabled = query.get("include_disabled") === "true";
    const { keys } = await listManaged(deps, caller, {
      ...{ skip, limit: PAGE, isKept: true, descending: true },
      ...(withDisabled ? {} : { isEnabled: true }),
    });
    return Response.json({ data: keys.map(shown) });
  },

  create: async (deps, call) => {
    const body = await settingsBody(deps, call.request);
    const settings = settingsOf(body, deps.clock.now());
    const { known, key } = await createManaged(deps, call, { settings, account: body["workspace_id"] });
    return Response.json({ data: shown(known), key }, { status: 201, headers: { "cache-control": "no-store" } });
  },

  get: async (deps, call) => Response.json({ data: shown(await describeKey(deps, call)) }),

  update: async (deps, call) => {
    const settings = settingsOf(await settingsBody(deps, call.request), deps.clock.now());
    return Response.json({ data: shown(await changeManaged(deps, call, settings)) });
  },

  remove: async (deps, call) => {
    await removeManaged(deps, call);
    return Response.json({ deleted: true });
  },
} satisfies Readonly<Record<string, ManagedHandler>>;
