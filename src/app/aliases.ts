// Paths that clients of other services already use. Each is an alias of one of our own paths: key headers, limits and log
// line are those of that path.

import { entryOf } from "../base/json-object.ts";
import type { Alias } from "../http/edge.ts";

/** Suffixes of other services' base addresses, which precede the `/v1/…` that we share. */
const PREFIXED = /^\/(?:openai|anthropic|api)(\/v1\/.+)$/;

/** Azure names the model in the path, as the deployment. */
const DEPLOYMENT = /^\/openai\/deployments\/([^/]+)\/(chat\/completions|completions|embeddings|images\/.+|audio\/.+)$/;

/** For clients whose base address lacks the `/v1`. */
const UNVERSIONED =
  /^\/(?:chat\/completions|completions|embeddings|rerank|moderations|(?:responses|messages|models|model|audio|images)(?:\/.*)?)$/;

/** Single addresses: LiteLLM's, and the API version of Cohere's client. */
const EXACT: Readonly<Record<string, string>> = {
  "/key/info": "/v1/key",
  "/health/readiness": "/readyz",
  "/health/liveness": "/livez",
  "/health/liveliness": "/livez",
  "/v2/rerank": "/v1/rerank",
};

/** OpenRouter's format differs for these, so they are routes. */
const OWN_ROUTES: ReadonlySet<string> = new Set([
  "/api/v1/key",
  "/api/v1/auth/key",
  "/api/v1/credits",
  "/api/v1/generation",
  "/api/v1/keys",
]);
const isOwnRoute = (path: string) => OWN_ROUTES.has(path) || path.startsWith("/api/v1/keys/");

/** The header in which Google's clients send a key. */
const GOOGLE_KEY = "x-goog-api-key";

/** What Google's clients ask of a model: the model and the verb stand in the address. Some programs encode the colon. */
const GOOGLE_VERB =
  /^\/v1(?:beta)?\/models\/(.+)(?::|%3[Aa])(generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents)$/;

function googleVerb(path: string): Alias | undefined {
  const [, id, verb] = GOOGLE_VERB.exec(path) ?? [];
  if (id === undefined || verb === undefined) return undefined;
  const members = { model: decodeURIComponent(id), stream: verb === "streamGenerateContent" };
  return { path: `/v1beta/${verb}`, members, keyHeader: GOOGLE_KEY };
}

/** What follows is a provider's own path, where a slash at the end may matter. */
const PASSED_ON = /^(?:\/(?:openai|anthropic|api))?\/v1\/upstream\//;

/** The path that an alias stands for; undefined for other paths, which nearly all are. */
export function aliasOf(path: string): Alias | undefined {
  if (path.length === 1 || !path.endsWith("/") || path.endsWith("//") || PASSED_ON.test(path)) return plainAlias(path);
  // A slash at the end changes nothing: some clients add one to every path.
  const plain = path.slice(0, -1);
  return plainAlias(plain) ?? { path: plain };
}

function plainAlias(path: string): Alias | undefined {
  if (path.startsWith("/v1/")) return path.startsWith("/v1/models/") ? googleVerb(path) : undefined;
  if (path.startsWith("/v1beta/")) return googleVerb(path) ?? { path, keyHeader: GOOGLE_KEY };
  const exact = entryOf(EXACT, path);
  if (exact !== undefined) return { path: exact };
  if (UNVERSIONED.test(path)) return { path: `/v1${path}` };
  const azure = DEPLOYMENT.exec(path);
  if (azure !== null) {
    const [, deployment = "", rest = ""] = azure;
    return { path: `/v1/${rest}`, model: decodeURIComponent(deployment), keyHeader: "api-key" };
  }
  const prefixed = isOwnRoute(path) ? undefined : PREFIXED.exec(path)?.[1];
  if (prefixed === undefined) return undefined;
  return path.startsWith("/openai/") ? { path: prefixed, keyHeader: "api-key" } : { path: prefixed };
}
