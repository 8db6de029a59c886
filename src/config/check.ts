// Checks across keys: names that must exist elsewhere, ids that must be unique, keys that depend on each other.

import { lazily } from "../base/lazily.ts";
import { kindByName } from "../vendors/model-kind.ts";
import type { Problem } from "./read.ts";
import type { ReadConfig } from "./schema.ts";
import { joinPath, nearest, show } from "./show.ts";

/** Every contradiction between keys, in a configuration whose keys are valid by themselves. */
export function crossCheck(config: ReadConfig): Problem[] {
  const problems: Problem[] = [];
  const report = (path: string, message: string) => void problems.push({ path, message });
  checkRoutes(config, report);
  checkIds(config, report);
  checkLimits(config, report);
  checkOauth(config, report);
  checkBrowser(config, report);
  checkPrices(config, report);
  checkWriters(config, report);
  checkNodes(config, report);
  checkRetention(config, report);
  checkCertificate(config.server.tls, report);
  if (config.alerts.webhook !== "" && config.alerts.webhookSecret === "")
    report("alerts.webhook_secret", "is required: it signs what alerts.webhook gets");
  for (const [name, server] of config.mcp.servers) checkServer(name, server, report);
  if (config.guardrails.length > 0) checksOfGuardrails()(config, report);
  return problems;
}

/** Sums are made when a request ends, and a row without its sum would be counted nowhere. */
function checkRetention({ usage: { retentionMs, rollupAfterMs } }: ReadConfig, report: Report): void {
  if (retentionMs !== 0 && retentionMs < rollupAfterMs)
    report("usage.retention", "must be 0s or at least usage.rollup_after");
}

/** An MCP server is reached in one way, and two underscores end its name in the names of its tools. */
function checkServer(
  name: string,
  { url, command }: { url: string; command: readonly string[] },
  report: Report,
): void {
  const path = joinPath("mcp.servers", name);
  if ((url === "") === (command.length === 0)) report(path, "needs either url or command");
  if (name.includes("__")) report(path, "expected a name without '__', which stands between it and its tools");
}

/** Processes that share a port must also share the database and the Redis. */
function checkNodes({ server, database, redis }: ReadConfig, report: Report): void {
  if (!server.reusePort) return;
  const missing = [...(database.url === "" ? ["database.url"] : []), ...(redis.url === "" ? ["redis.url"] : [])];
  if (missing.length > 0) report("server.reuse_port", `needs ${missing.join(" and ")}`);
}

function checkCertificate({ cert, key }: ReadConfig["server"]["tls"], report: Report): void {
  if ((cert === "") === (key === "")) return;
  const [missing, given] = cert === "" ? ["cert", "key"] : ["key", "cert"];
  report(`server.tls.${missing}`, `is required together with ${given}`);
}

type Report = (path: string, message: string) => void;

const checksOfGuardrails = lazily(() => {
  const { checkGuardrails }: typeof import("./check-guardrails.ts") = require("./check-guardrails.ts");
  return checkGuardrails;
});

interface Listed {
  readonly path: string;
  readonly id: string;
  readonly aliases: readonly string[];
  readonly routes: readonly { readonly provider: string }[];
  readonly routesPath: string;
}

function listed(config: ReadConfig): Listed[] {
  const models = config.models.map((model, i) => ({
    ...model,
    path: `models[${i}]`,
    routesPath: `models[${i}].routes`,
  }));
  const decisions = config.decisions.models.map((model, i) => {
    const path = `decisions.models[${i}]`;
    return { ...model, routes: model.backend?.routes ?? [], path, routesPath: `${path}.backend.routes` };
  });
  return [...models, ...decisions];
}

function checkRoutes(config: ReadConfig, report: Report): void {
  const names = [...config.providers.keys()];
  for (const { routes, routesPath } of listed(config)) {
    for (const [i, { provider }] of routes.entries()) {
      if (names.includes(provider)) continue;
      const meant = nearest(provider, names);
      const hint = meant === undefined ? `configured: ${names.join(", ")}` : `did you mean ${meant}?`;
      report(`${routesPath}[${i}].provider`, `there is no provider ${show(provider)} (${hint})`);
    }
  }
}

function checkIds(config: ReadConfig, report: Report): void {
  // Ids are matched without regard to case, so they must differ in more than case.
  const taken = new Map<string, string>();
  const claim = (id: string, path: string) => {
    const before = taken.get(id.toLowerCase());
    if (before === undefined) taken.set(id.toLowerCase(), path);
    else report(path, `${show(id)} is already taken by ${before}`);
  };
  for (const [at, { id, larger }] of config.models.entries())
    if (larger !== "" && larger.toLowerCase() === id.toLowerCase())
      report(`models[${at}].larger`, "expected another model than this one");
  const all = listed(config);
  for (const { id, path } of all) claim(id, `${path}.id`);
  for (const { aliases, path } of all) {
    for (const [i, alias] of aliases.entries()) claim(alias, `${path}.aliases[${i}]`);
  }
}

/** The limits that the backends of decision models support; a misspelt one would silently have no effect. */
const LIMITS = ["questions", "options", "top_logprobs", "chosen_tokens"];

function checkLimits(config: ReadConfig, report: Report): void {
  for (const [i, { backend }] of config.decisions.models.entries()) {
    const limits: unknown = backend?.limits ?? {};
    for (const name of limits instanceof Map ? (limits as Map<string, number>).keys() : Object.keys(limits as object)) {
      if (LIMITS.includes(name)) continue;
      const meant = nearest(name, LIMITS);
      const hint = meant === undefined ? `known: ${LIMITS.join(", ")}` : `did you mean ${meant}?`;
      report(`decisions.models[${i}].backend.limits`, `there is no limit ${show(name)} (${hint})`);
    }
  }
}

function checkOauth(config: ReadConfig, report: Report): void {
  for (const [slug, entry] of config.auth.oauth) {
    if (entry.clientId === "") continue;
    const path = joinPath("auth.oauth", slug);
    if (entry.clientSecret === "") report(`${path}.client_secret`, "is required together with client_id");
    entry.groups.forEach(({ project, tier }, at) => {
      if (project === "" && tier === undefined)
        report(`${path}.groups[${at}]`, "gives nothing: name a project or a tier");
    });
    if (entry.groups.length > 0 && entry.issuer === "") report(`${path}.groups`, "needs an issuer");
    if (entry.issuer !== "") continue;
    for (const key of ["authorize_url", "token_url", "user_url"] as const) {
      const value = { authorize_url: entry.authorizeUrl, token_url: entry.tokenUrl, user_url: entry.userUrl }[key];
      if (value === "") report(`${path}.${key}`, "is required without an issuer");
    }
  }
}

function checkBrowser(config: ReadConfig, report: Report): void {
  const { browser, allowPrivateNetworks } = config.web;
  if (browser.endpoint !== "" && browser.proxyAddress === "" && !allowPrivateNetworks) {
    report(
      "web.browser.proxy_address",
      "is required together with endpoint, unless web.allow_private_networks is true",
    );
  }
}

/** Models whose output is billed have a price for it; of the others, only the input is counted. */
function checkPrices(config: ReadConfig, report: Report): void {
  const needed = ({ id, kind, routes }: ReadConfig["models"][number]) => {
    const known = kind ?? kindByName(routes[0]?.model || id) ?? "chat";
    return known !== "embedding" && known !== "rerank";
  };
  for (const [name, { modelDefaults }] of config.providers) {
    if (modelDefaults?.prices !== undefined && modelDefaults.prices.output === undefined) {
      report(`${joinPath("providers", name)}.model_defaults.prices.output`, "is required");
    }
  }
  config.models.forEach((model, at) => {
    if (model.prices !== undefined && model.prices.output === undefined && needed(model)) {
      report(`models[${at}].prices.output`, "is required, except for models of kind embedding or rerank");
    }
    model.routes.forEach(({ prices }, index) => {
      if (prices !== undefined && prices.output === undefined && needed(model)) {
        const path = `models[${at}].routes[${index}].prices.output`;
        report(path, "is required, except for models of kind embedding or rerank");
      }
    });
  });
}

/**
 * Models that write texts for the gateway itself must be chat models. This is checked by what is known before any
 * provider is asked.
 */
function checkWriters(config: ReadConfig, report: Report): void {
  const writers = { "compaction.model": config.compaction.model, "web.model": config.web.model };
  for (const [path, id] of Object.entries(writers)) {
    if (id === "") continue;
    if (config.decisions.models.some((model) => names(model, id))) {
      report(path, `expected a chat model, got the decision model ${show(id)}`);
      continue;
    }
    const model = config.models.find((one) => names(one, id));
    const kind = model?.kind ?? kindByName(model?.routes[0]?.model || model?.id || id) ?? "chat";
    // A model that the operator lists without a kind is a chat model, unless the catalog knows its name.
    if (kind === "chat" || (kind === "other" && model !== undefined)) continue;
    const what = kind === "other" ? "one that cannot chat" : `a model for ${kind}`;
    report(path, `expected a chat model, got ${show(id)}, ${what}`);
  }
}

function names({ id, aliases }: { id: string; aliases: readonly string[] }, name: string): boolean {
  return [id, ...aliases].some((one) => one.toLowerCase() === name.toLowerCase());
}
