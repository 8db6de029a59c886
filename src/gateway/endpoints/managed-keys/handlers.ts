// What the endpoints of /v1/keys do.

import type { KeyState } from "../../../store/access/key-listing.ts";
import type { ManagedHandler } from "./deps.ts";
import { graceOf, keySettingsOf, wrong } from "./fields.ts";
import {
  changeManaged,
  createManaged,
  describeKey,
  listManaged,
  removeManaged,
  rotateManaged,
  settingsBody,
} from "./manage.ts";

const PAGE = 100;
const PAGE_MAX = 500;
const STATES: readonly KeyState[] = ["live", "disabled", "expired"];
/** Answers that hold secrets must not be stored by what is between. */
const NO_STORE = { "cache-control": "no-store" };

/** The number under a name of the query. Throws `ApiError` 400. */
export function wholeParameter(
  query: URLSearchParams,
  name: string,
  { least, most, otherwise }: { least: number; most: number; otherwise: number },
): number {
  const text = query.get(name);
  if (text === null) return otherwise;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw wrong(name, `a whole number from ${least} to ${most}`);
}

function stateOf(query: URLSearchParams): KeyState | undefined {
  const text = query.get("state");
  const state = STATES.find((one) => one === text);
  if (text !== null && state === undefined) throw wrong("state", `one of ${STATES.join(", ")}`);
  return state;
}

/** The handlers by name. */
export const MANAGED_KEYS = {
  list: async (deps, { caller, request }) => {
    const query = new URL(request.url).searchParams;
    const state = stateOf(query);
    const [text, project] = [query.get("search") ?? "", query.get("project")];
    if (text.length > 200) throw wrong("search", "at most 200 characters");
    const skip = wholeParameter(query, "offset", { least: 0, most: 999_999_999, otherwise: 0 });
    const limit = wholeParameter(query, "limit", { least: 1, most: PAGE_MAX, otherwise: PAGE });
    const { total, keys } = await listManaged(deps, caller, {
      ...{ text, skip, limit, isKept: true },
      ...(state === undefined ? {} : { state }),
      ...(project === null ? {} : { projectId: project }),
    });
    const data = keys.map(({ view }) => view);
    return Response.json({ object: "list", data, total, has_more: skip + data.length < total });
  },

  create: async (deps, call) => {
    const body = await settingsBody(deps, call.request);
    const settings = keySettingsOf(body, deps.clock.now());
    const { known, key } = await createManaged(deps, call, { settings, account: body["account"] });
    return Response.json({ ...known.view, key }, { status: 201, headers: NO_STORE });
  },

  get: async (deps, call) => Response.json((await describeKey(deps, call)).view),

  update: async (deps, call) => {
    const settings = keySettingsOf(await settingsBody(deps, call.request), deps.clock.now());
    return Response.json((await changeManaged(deps, call, settings)).view);
  },

  remove: async (deps, call) => {
    const { id } = await removeManaged(deps, call);
    return Response.json({ id, object: "key.deleted", deleted: true });
  },

  rotate: async (deps, call) => {
    const hasBody = call.request.body !== null;
    const graceMs = graceOf(hasBody ? await settingsBody(deps, call.request) : {});
    const { known, key } = await rotateManaged(deps, call, graceMs);
    return Response.json({ ...known.view, key }, { headers: NO_STORE });
  },
} satisfies Readonly<Record<string, ManagedHandler>>;
