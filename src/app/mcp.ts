// Passes the tools for agents what they need from the rest: the endpoints that do their work, and what a key may use. Wiring
// only.

import type { AnyElysia } from "elysia";
import { tierIncludes } from "../catalog/tiers.ts";
import type { Caller } from "../gateway/admission/caller.ts";
import { hasWebModel, type WebModelChoice } from "../gateway/inner/web-model.ts";
import { guardedCall } from "../gateway/stages/guardrails/guards.ts";
import { exchangeOf } from "../http/exchange.ts";
import { createInnerCalls, type InnerCallDeps } from "../http/inner-call.ts";
import { joinRoutes, longEnough, type RoutePart } from "../http/join-routes.ts";
import { createMcp } from "../mcp/routes.ts";
import type { ServedTool } from "../mcp/servers/servers.ts";
import type { Resources } from "../mcp/tool.ts";
import type { createWeb } from "../web/assemble.ts";
import type { Foundation } from "./foundation.ts";
import { accessOf, type createMcpServers } from "./mcp-servers.ts";
import type { addUpstreams } from "./upstreams.ts";

type Upstreams = ReturnType<typeof addUpstreams>;
type Decisions = Upstreams["decisions"];

export interface McpServiceDeps extends Pick<Foundation, "config" | "callers" | "observer" | "bodyLimits" | "log"> {
  readonly servers: Pick<ReturnType<typeof createMcpServers>, "open">;
  readonly web: Pick<ReturnType<typeof createWeb>, "routes" | "engines">;
  readonly decisions: Pick<Decisions, "routes" | "choices">;
  readonly webModels: WebModelChoice;
  readonly guards: Upstreams["calls"]["guards"];
}

/** `POST /mcp` as a service. */
export function createMcpService(deps: McpServiceDeps) {
  const { config, callers, observer, log, bodyLimits, servers } = deps;
  return createMcp({
    admit: callers.admit,
    origins: () => config().server,
    authenticate: async (request) => {
      const caller = await callers.authenticate(request);
      const access = accessOf(caller);
      const hasServers = () => config().mcp.servers.size > 0;
      const served = {
        list: async () => (hasServers() ? (await servers.open()).tools(access) : []),
        find: async (name: string) => {
          if (!hasServers()) return undefined;
          const tool = await (await servers.open()).find(access, name);
          return (
            tool && guardedTool(tool, guardedCall(deps.guards, { caller, model: name, exchange: exchangeOf(request) }))
          );
        },
      };
      return { keyId: caller.keyId, resources: resourcesOf(deps, caller), served };
    },
    bodyLimits,
    endpoints: describedEndpoints,
    call: createInnerCalls({
      handle: toolEndpoints([deps.web.routes, deps.decisions.routes], deps.config().server.tls.cert !== ""),
      via: "mcp",
      finished: observer.finished,
      unexpected: (exchange, cause) => log.error("unexpected error", { request_id: exchange.requestId, error: cause }),
    }),
    unexpected: (error) => log.error("a tool failed unexpectedly", { error }),
  });
}

type ToldProgress = Parameters<NonNullable<Parameters<ServedTool["call"]>[1]["progress"]>>[0];

/** A tool whose arguments and results are looked through. To the guardrails, its name is that of a model. */
function guardedTool(tool: ServedTool, guarded: ReturnType<typeof guardedCall>): ServedTool {
  if (guarded === undefined) return tool;
  return {
    ...tool,
    call: async (args, { signal, progress }) => {
      const sent = await guarded.input({ arguments: args }, signal);
      // The words of a server in the course of a call would leave piece by piece.
      const silent =
        progress && guarded.guardsOutput ? (told: ToldProgress) => progress({ ...told, message: "" }) : progress;
      return guarded.output(await tool.call(sent.arguments, { signal, progress: silent }), signal);
    },
  };
}

/** Loaded when the first list is requested: not needed at the start. */
export const describedEndpoints = async () => (await import("./endpoints.ts")).ENDPOINTS;

/** The endpoints behind the tools, joined when the first is called. */
export function toolEndpoints(parts: readonly RoutePart[], isSecure = false): InnerCallDeps["handle"] {
  let routes: AnyElysia | undefined;
  return (request) => {
    routes ??= joinRoutes(parts, isSecure);
    return routes.fetch(isSecure ? longEnough(request) : request);
  };
}

/** What a caller can use besides the web. */
export function resourcesOf(
  { web, decisions, webModels }: Pick<McpServiceDeps, "web" | "decisions" | "webModels">,
  caller: Pick<Caller, "models"> & { readonly account: Pick<Caller["account"], "tier"> },
): Resources {
  const { account, models } = caller;
  return {
    hasEngine: () => web.engines().some(({ whyOff }) => whyOff === undefined),
    hasModel: () => hasWebModel(webModels, caller),
    // An agent would take the demo's answers for true.
    decisionModels: async () =>
      (await decisions.choices(models))
        .filter(({ tier, embedded }) => !embedded && tierIncludes(account.tier, tier))
        .map(({ id }) => id),
  };
}
