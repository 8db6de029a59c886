// What a management key may do with keys: which it sees, and how it makes, changes and ends them. Both formats use it.

import { ApiError } from "../../../base/errors.ts";
import { isTierId } from "../../../catalog/tiers.ts";
import { readJsonBody } from "../../../http/body.ts";
import { exchangeOf } from "../../../http/exchange.ts";
import type { Account } from "../../../store/access/accounts.ts";
import {
  HOUSE_KEY,
  KEYS_MAX,
  type KeyScope,
  type KeySearch,
  LIVE_KEYS_MAX,
} from "../../../store/access/key-listing.ts";
import type { KeyInfo } from "../../../store/access/key-rows.ts";
import type { Caller } from "../../admission/caller.ts";
import type { ManagedCall, ManagedKeysDeps } from "./deps.ts";
import { type KeySettings, requireRights, textOf, wrong } from "./fields.ts";
import { describeKeys, type KnownKey } from "./view.ts";

type Body = Readonly<Record<string, unknown>>;

/** A body of settings is small. */
const BODY_BYTES_MAX = 64 * 1024;

/** Reads a body of settings. */
export async function settingsBody(deps: ManagedKeysDeps, request: Request): Promise<Body> {
  const limits = deps.bodyLimits();
  const maxBytes = Math.min(limits.maxBytes, BODY_BYTES_MAX);
  return (await readJsonBody(request, { ...limits, maxBytes })).body;
}

/** The keys that a management key manages: of a project all, or the holder's own if it is a mere member there now. */
async function scopeOf(
  { projectMembers }: ManagedKeysDeps,
  { management, accountId, projectId }: Caller,
): Promise<KeyScope> {
  if (management === "all") return {};
  if (management !== "project") return { accountId };
  const role = projectId === null ? undefined : await projectMembers().findRole(projectId, accountId);
  const ofProject = { projectId: projectId ?? "" };
  return role === "owner" || role === "manager" ? ofProject : { ...ofProject, accountId };
}

/** A page of the keys that the caller manages. Keys that were revoked are left out, as if they were gone. */
export async function listManaged(deps: ManagedKeysDeps, caller: Caller, search: KeySearch) {
  const withoutAll = caller.management !== "all";
  const { total, rows } = await deps.keys.searchKeys(await scopeOf(deps, caller), { ...search, withoutAll });
  return { total, keys: await describeKeys(deps, rows) };
}

/** The key that a path names, if the caller manages it. Throws `ApiError` 404. */
export async function findManaged(deps: ManagedKeysDeps, { caller, params }: ManagedCall): Promise<KeyInfo> {
  const id = params["id"] ?? "";
  const row = id.startsWith(HOUSE_KEY) ? undefined : await deps.keys.findKey(id, await scopeOf(deps, caller));
  // A management key for one account must not give itself the rights of one for all accounts.
  const isAbove = row?.management === "all" && caller.management !== "all";
  if (row === undefined || row.revokedAtMs !== null || isAbove) throw noKey();
  return row;
}

function noKey(): ApiError {
  return new ApiError("key_not_found", "There is no such key among those that this management key manages.");
}

/** Describes one key as it is now. Throws `ApiError` 404 if it ended meanwhile. */
export async function describeKey(deps: ManagedKeysDeps, call: ManagedCall): Promise<KnownKey> {
  const [known] = await describeKeys(deps, [await findManaged(deps, call)]);
  if (known === undefined) throw noKey();
  return known;
}

/** Makes a key. Throws `ApiError` 400 and 403. */
export async function createManaged(
  deps: ManagedKeysDeps,
  call: ManagedCall,
  { settings, account }: { settings: KeySettings; account: unknown },
): Promise<{ readonly known: KnownKey; readonly key: string }> {
  const { caller } = call;
  const { name } = settings;
  if (name === undefined) throw wrong("name", "a text of 1 to 100 characters");
  const owner = await ownerOf(deps, caller, account);
  const projectId = await projectOf(deps, { caller, owner, wanted: settings.projectId });
  requireOwnRights(deps, { caller, owner, settings });
  requirePeriod(settings, undefined);
  await refuseTooMany(deps, owner.id);
  const { id, key } = await deps.keys.createKey({ ...settings, name, accountId: owner.id, projectId });
  await note(deps, call, { event: "key_created", accountId: owner.id, detail: { key_id: id, name } });
  const params = { id };
  return { known: await describeKey(deps, { ...call, params }), key };
}

/** Changes the given settings of a key. Throws `ApiError` 400, 403 and 404. */
export async function changeManaged(
  deps: ManagedKeysDeps,
  call: ManagedCall,
  { noStore: _, ...settings }: KeySettings,
): Promise<KnownKey> {
  const before = await findManaged(deps, call);
  const { caller } = call;
  const owner = await accountOf(deps, before.accountId);
  const { projectId, passthrough, ...change } = settings;
  if (passthrough !== undefined && passthrough !== before.passthrough)
    throw new ApiError("permission_denied", "'passthrough' is set when a key is made, and cannot be changed.", {
      param: "passthrough",
    });
  if (before.id === caller.keyId) refuseOwnBounds(settings);
  requireOwnRights(deps, { caller, owner, settings, before });
  requirePeriod(settings, before);
  const moved =
    projectId === undefined || projectId === before.projectId
      ? {}
      : { projectId: await projectOf(deps, { caller, owner, wanted: projectId }) };
  // Without a budget there is no period of it.
  const period = change.budgetMicros === null ? { budgetPeriodMs: null } : {};
  if (!(await deps.keys.updateKey(before.id, owner.id, { ...change, ...period, ...moved }))) throw noKey();
  deps.keysChanged();
  const changed = Object.keys(settings);
  await note(deps, call, { event: "key_changed", accountId: owner.id, detail: { ...nameOf(before), changed } });
  return describeKey(deps, call);
}

/** A management key that was stolen must not make itself last longer, or usable from elsewhere. Throws `ApiError` 403. */
function refuseOwnBounds({ expiresAtMs, addresses }: KeySettings): void {
  const param = expiresAtMs !== undefined ? "expires_at" : addresses !== undefined ? "addresses" : undefined;
  if (param === undefined) return;
  const message = `A management key cannot change '${param}' of itself. Its owner can change it in the dashboard.`;
  throw new ApiError("permission_denied", message, { param });
}

/** Gives a key another secret. Throws `ApiError` 403 and 404. */
export async function rotateManaged(
  deps: ManagedKeysDeps,
  call: ManagedCall,
  graceMs: number,
): Promise<{ readonly known: KnownKey; readonly key: string }> {
  const row = await findManaged(deps, call);
  const { management, accountId } = call.caller;
  // A project's keys are managed by all its managers, but a secret is known to the holder of its key alone.
  if (management !== "all" && row.accountId !== accountId)
    throw new ApiError("permission_denied", "The key belongs to another account, which alone may rotate its secret.");
  const made = await deps.keys.rotateKey(row.id, { accountId: row.accountId, graceMs });
  if (made === undefined) throw noKey();
  deps.keysChanged();
  const detail = { ...nameOf(row), grace_seconds: graceMs / 1000 };
  await note(deps, call, { event: "key_rotated", accountId: row.accountId, detail });
  return { known: await describeKey(deps, call), key: made.key };
}

/** Revokes a key, with the secret before its last rotation. Throws `ApiError` 404. */
export async function removeManaged(deps: ManagedKeysDeps, call: ManagedCall): Promise<KeyInfo> {
  const row = await findManaged(deps, call);
  if (!(await deps.keys.revokeKey(row.id, { accountId: row.accountId }))) throw noKey();
  deps.keysChanged();
  await note(deps, call, { event: "key_revoked", accountId: row.accountId, detail: nameOf(row) });
  return row;
}

const nameOf = ({ id, name }: KeyInfo) => ({ key_id: id, name });

async function accountOf({ accounts }: ManagedKeysDeps, id: string): Promise<Account> {
  const account = await accounts.findAccount(id);
  if (account === undefined) throw wrong("account", "the id of an account");
  return account;
}

/** The account of a new key: the caller's, or for management keys of all accounts the one that they name. */
async function ownerOf(deps: ManagedKeysDeps, caller: Caller, wanted: unknown): Promise<Account> {
  const id = wanted === undefined || wanted === null ? caller.accountId : textOf("account", wanted);
  if (id === caller.accountId || caller.management === "all") return accountOf(deps, id);
  const message = "Only a management key for all accounts makes keys for another account.";
  throw new ApiError("permission_denied", message, { param: "account" });
}

/** The project of a key: that of the management key, or one of which the owner is a member. */
async function projectOf(
  deps: ManagedKeysDeps,
  { caller, owner, wanted }: { caller: Caller; owner: Account; wanted: string | null | undefined },
): Promise<string | null> {
  const own = caller.management === "project" ? caller.projectId : undefined;
  if (own !== undefined && wanted !== undefined && wanted !== own)
    throw new ApiError("permission_denied", "This management key makes keys of its own project only.", {
      param: "project",
    });
  const id = own ?? wanted ?? null;
  if (id === null) return null;
  if ((await deps.projectMembers().findRole(id, owner.id)) !== undefined) return id;
  throw wrong("project", "the id of a project of which the key's account is a member");
}

function requireOwnRights(
  deps: ManagedKeysDeps,
  of: { caller: Caller; owner: Account; settings: KeySettings; before?: KeyInfo },
): void {
  const { caller, owner, settings, before } = of;
  // The operator gives what plans do not.
  if (caller.management === "all" || owner.admin) return;
  const tier = isTierId(owner.tier) ? owner.tier : "free";
  requireRights(settings, { grant: deps.grants()[tier], before });
}

function requirePeriod({ budgetPeriodMs, budgetMicros }: KeySettings, before: KeyInfo | undefined): void {
  const budget = budgetMicros === undefined ? (before?.budgetMicros ?? null) : budgetMicros;
  if (budgetPeriodMs != null && budget === null) throw wrong("budget_period", "a budget beside it");
}

async function refuseTooMany({ keys }: ManagedKeysDeps, accountId: string): Promise<void> {
  const live = (await keys.countLiveKeys([accountId])).get(accountId) ?? 0;
  const isFull = live >= LIVE_KEYS_MAX || (await keys.searchKeys({ accountId }, { limit: 1 })).total >= KEYS_MAX;
  if (isFull) throw new ApiError("invalid_request", `An account has at most ${LIVE_KEYS_MAX} keys. Delete some first.`);
}

/** Writes to the audit log of the key's account what was done, and by which management key. */
async function note(
  { audit }: ManagedKeysDeps,
  { caller, request }: ManagedCall,
  { event, accountId, detail }: { event: string; accountId: string; detail: Readonly<Record<string, unknown>> },
): Promise<void> {
  const by = {
    by_key: caller.keyId,
    by_key_name: caller.name,
    ...(accountId === caller.accountId ? {} : { by_account: caller.accountId }),
  };
  const userAgent = request.headers.get("user-agent") ?? "";
  const { address } = exchangeOf(request);
  await audit.addAudit({ accountId, event, address, userAgent, detail: { ...detail, ...by } });
}
