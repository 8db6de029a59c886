// /v1/projects: the projects of the account of a management key. Their code is loaded by the first request.

import type { AtOnce } from "../../base/at-once.ts";
import { lazily } from "../../base/lazily.ts";
import { type BodyLimits, readJsonBody } from "../../http/body.ts";
import { describedBy, endpointsBehind, type ServedEndpoint } from "../../http/served-endpoint.ts";
import type { ManagementScope } from "../../store/schema.ts";
import { clientOf } from "../client.ts";
import { requiredText } from "../fields.ts";
import type { ProjectActor } from "./actor.ts";
import type { ProjectsDeps } from "./projects.ts";

/** The holder of a management key. */
interface Manager {
  readonly accountId: string;
  readonly keyId: string;
  readonly management: ManagementScope | null;
  readonly projectId: string | null;
}

/** What the endpoints need. */
export interface ProjectRoutesDeps extends ProjectsDeps {
  /** Identifies the caller by a management key. Throws 401 and 403. */
  authenticateManager(request: Request): AtOnce<Manager>;
}

const BODY_LIMITS: BodyLimits = { maxBytes: 64 * 1024 };

const created = lazily(() => {
  const { createProjects }: typeof import("./projects.ts") = require("./projects.ts");
  return createProjects;
});
const projectText = describedBy(() => {
  const { PROJECT_TEXTS }: typeof import("./openapi.ts") = require("./openapi.ts");
  return PROJECT_TEXTS;
});

const managed = endpointsBehind("management", async (deps: ProjectRoutesDeps, request): Promise<ProjectActor> => {
  const { accountId, keyId, management, projectId } = await deps.authenticateManager(request);
  return { accountId, keyId, projectId, scope: management ?? "account", client: clientOf(request) };
});

const bodyOf = async (request: Request) => (await readJsonBody(request, BODY_LIMITS)).body;

/** The endpoints of projects. */
export const PROJECT_ENDPOINTS: readonly ServedEndpoint<ProjectRoutesDeps>[] = [
  managed("POST", "/v1/projects", {
    describe: projectText("createProject"),
    handle: async (deps, { request, caller }) =>
      Response.json(await created()(deps).create(caller, await bodyOf(request)), { status: 201 }),
  }),
  managed("GET", "/v1/projects", {
    describe: projectText("listProjects"),
    handle: async (deps, { request, caller }) => {
      const after = new URL(request.url).searchParams.get("after") ?? "";
      return Response.json({ object: "list", data: await created()(deps).list(caller, after.slice(0, 100)) });
    },
  }),
  managed("GET", "/v1/projects/:id", {
    describe: projectText("getProject"),
    handle: async (deps, { caller, params }) => Response.json(await created()(deps).find(caller, params.id)),
  }),
  managed("PATCH", "/v1/projects/:id", {
    describe: projectText("changeProject"),
    handle: async (deps, { request, caller, params }) =>
      Response.json(await created()(deps).change(caller, params.id, await bodyOf(request))),
  }),
  managed("DELETE", "/v1/projects/:id", {
    describe: projectText("deleteProject"),
    handle: async (deps, { caller, params }) => {
      await created()(deps).remove(caller, params.id);
      return Response.json({ id: params.id, object: "project", deleted: true });
    },
  }),
  managed("GET", "/v1/projects/:id/members", {
    describe: projectText("listProjectMembers"),
    handle: async (deps, { caller, params }) =>
      Response.json({ object: "list", data: await created()(deps).members(caller, params.id) }),
  }),
  managed("POST", "/v1/projects/:id/members", {
    describe: projectText("setProjectMember"),
    handle: async (deps, { request, caller, params }) => {
      const body = await bodyOf(request);
      const email = requiredText(body, "email");
      return Response.json(await created()(deps).setMember(caller, params.id, { ...body, email }));
    },
  }),
  managed("DELETE", "/v1/projects/:id/members/:email", {
    describe: projectText("removeProjectMember"),
    handle: async (deps, { caller, params }) => {
      await created()(deps).removeMember(caller, params.id, params.email);
      return Response.json({ email: params.email, deleted: true });
    },
  }),
];
