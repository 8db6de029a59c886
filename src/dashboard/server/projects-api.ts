// The projects of an account: limits, members, keys and usage. What each role may do is decided where the HTTP API does it.

import { requireRole } from "../../accounts/projects/actor.ts";
import { projectNameOf } from "../../accounts/projects/fields.ts";
import { createProjects, type ProjectsDeps } from "../../accounts/projects/projects.ts";
import { ApiError } from "../../base/errors.ts";
import { isoTime } from "../../base/iso-time.ts";
import { dayOf } from "../../store/usage/record.ts";
import type { ProjectDay, ProjectDetails, ProjectKeyRow } from "../contract-projects.ts";
import { type Endpoint, type MemberRequest, member } from "./endpoint.ts";
import { type KeysApiDeps, refuseTooMany } from "./keys-api.ts";

/** What the endpoints need. */
export interface ProjectsApiDeps extends Pick<KeysApiDeps, "keys" | "note" | "keysChanged" | "clock"> {
  readonly projectDeps: ProjectsDeps;
}

const DAYS = 30;
const DAY_MS = 86_400_000;
const MICROS_PER_USD = 1_000_000;

/** The endpoints of projects. */
export function projectsApi(deps: ProjectsApiDeps): Endpoint[] {
  const projects = createProjects(deps.projectDeps);
  const idOf = ({ params }: MemberRequest) => params["id"] ?? "";
  return [
    member("GET", "/projects", async (visit) => ({ data: await projects.list(actorOf(visit)) })),
    member("POST", "/projects", async (visit) => projects.create(actorOf(visit), await visit.body())),
    member("GET", "/projects/:id", async (visit): Promise<ProjectDetails> => {
      const project = await projects.find(actorOf(visit), idOf(visit));
      const members = await projects.members(actorOf(visit), project.id);
      return { project, members, keys: await keysOf(deps, visit), days: await daysOf(deps, project.id) };
    }),
    member("POST", "/projects/:id", async (visit) => projects.change(actorOf(visit), idOf(visit), await visit.body())),
    member("DELETE", "/projects/:id", async (visit) => {
      await projects.remove(actorOf(visit), idOf(visit));
      return { success: true };
    }),
    member("POST", "/projects/:id/members", async (visit) => {
      const body = await visit.body();
      return projects.setMember(actorOf(visit), idOf(visit), { ...body, email: String(body["email"] ?? "") });
    }),
    member("DELETE", "/projects/:id/members/:email", async (visit) => {
      await projects.removeMember(actorOf(visit), idOf(visit), visit.params["email"] ?? "");
      return { success: true };
    }),
    member("POST", "/projects/:id/keys", async (visit) => {
      const { id } = await projects.find(actorOf(visit), idOf(visit));
      const name = projectNameOf(await visit.body());
      const accountId = visit.who.account.id;
      await refuseTooMany(deps, accountId);
      const made = await deps.keys.createKey({ accountId, name, projectId: id });
      await deps.note("key_created", visit, { key_id: made.id, name, project_id: id });
      return made;
    }),
    member("DELETE", "/projects/:id/keys/:key", async (visit) => {
      const { role } = await projects.find(actorOf(visit), idOf(visit));
      const key = (await keysOf(deps, visit)).find(({ id }) => id === visit.params["key"]);
      if (key === undefined) throw new ApiError("key_not_found", "There is no such key in this project.");
      if (!key.own) requireRole(role, "manage", "revoke the keys of others");
      await deps.keys.revokeKey(key.id);
      deps.keysChanged();
      const detail = { key_id: key.id, name: key.name, project_id: idOf(visit) };
      await deps.note("key_revoked", visit, detail);
      if (!key.own) await noteForHolder(deps, visit, detail);
      return { success: true };
    }),
  ];
}

/** Tells the holder of a key who has revoked it. */
async function noteForHolder(
  { keys, projectDeps }: ProjectsApiDeps,
  { who, client }: MemberRequest,
  detail: { readonly key_id: string; readonly name: string; readonly project_id: string },
): Promise<void> {
  const accountId = (await keys.findKey(detail.key_id, {}))?.accountId;
  if (accountId === undefined) return;
  const by = who.account.id;
  await projectDeps.audit.addAudit({ accountId, event: "key_revoked", ...client, detail: { ...detail, by } });
}

function actorOf({ who, client }: MemberRequest) {
  return { accountId: who.account.id, scope: "account" as const, projectId: null, client };
}

async function keysOf({ projectDeps }: ProjectsApiDeps, { who, params }: MemberRequest): Promise<ProjectKeyRow[]> {
  const rows = await projectDeps.projects().listProjectKeys(params["id"] ?? "");
  return rows.map((row) => ({
    ...{ id: row.id, name: row.name, key: `${row.prefix}…${row.lastFour}`, username: row.username },
    own: row.accountId === who.account.id,
    spent: row.spentMicros / MICROS_PER_USD,
    last_used_at: isoTime(row.lastUsedAtMs),
    created_at: isoTime(row.createdAtMs),
  }));
}

async function daysOf({ projectDeps, clock }: ProjectsApiDeps, id: string): Promise<ProjectDay[]> {
  const today = dayOf(clock.now());
  const from = today - DAYS + 1;
  const used = new Map((await projectDeps.projects().sumsByProjectDay(id, from)).map((one) => [one.day, one]));
  return Array.from({ length: DAYS }, (_, at) => {
    const { requests = 0, costMicros = 0 } = used.get(from + at) ?? {};
    return { day: isoTime((from + at) * DAY_MS).slice(0, 10), requests, cost: costMicros / MICROS_PER_USD };
  });
}
