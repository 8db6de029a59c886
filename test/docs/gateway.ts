// A gateway on which every documented endpoint can be called: built-in models, a decision model, a search engine and a
// site, all on loopback, and an account that can sign in.

import type { PasswordHasher } from "../../src/accounts/passwords/hash-queue.ts";
import { ENDPOINTS } from "../../src/app/endpoints.ts";
import type { ApiEndpoint } from "../../src/http/endpoint.ts";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { nativeAnswers, startFake } from "../decisions/support.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { linesPage, modelConfig, startModel } from "../web/extract-script.ts";
import { startSearchSite } from "../web/search-site.ts";
import { webConfig } from "../web/support.ts";

export type Json = Record<string, unknown>;

/** The site in the examples. */
const EXAMPLE_SITE = "https://example.com";
const PASSWORD = "correct horse battery staple";
/** A fast replacement, since password hashing is not tested here. */
const QUICK: PasswordHasher = { hash: async () => "any", verify: async () => true };
/** The smallest possible picture. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** One request. */
export interface Call {
  readonly path?: string;
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** An answer. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

export interface DocumentedGateway {
  readonly app: TestApp;
  /** The OpenAPI document as the gateway serves it. */
  readonly document: Json;
  /** Calls an endpoint with the credential that it needs. */
  ask(endpoint: ApiEndpoint, call?: Call): Promise<Reply>;
  /** The request that makes an endpoint return something; undefined if any request does. */
  prepare(endpoint: ApiEndpoint): Promise<Call>;
  /** An example, changed to the site of this test. */
  here<T>(example: T): T;
  stop(): Promise<void>;
}

/** The error in an answer, in any format; undefined if there is none. */
export function errorOf({ error, code, param }: Json): Json | undefined {
  const { details } = (error ?? {}) as { details?: unknown };
  const [info] = (Array.isArray(details) ? details : []) as { reason?: string; metadata?: Json }[];
  if (info?.reason !== undefined) return { ...(error as Json), code: info.reason, param: info.metadata?.["param"] };
  return typeof error === "string" ? { message: error, code, param } : ((error ?? undefined) as Json | undefined);
}

/** Starts the gateway. */
export async function startDocumentedGateway(): Promise<DocumentedGateway> {
  const site = startSearchSite({
    "/": linesPage("Example Domain", ["Title: Example Domain"]),
    "/robots.txt": () => new Response(""),
  });
  const judge = startFake(nativeAnswers);
  const reader = startModel();
  const { providers, models } = modelConfig(reader, { breaker: { failures: 1000 } }) as {
    providers: object;
    models: object[];
  };
  const app = await startTestApp({
    key: { rpm: 1_000_000 },
    hasher: QUICK,
    config: {
      ...webConfig([site.host]),
      ...site.config(["searxng"]),
      providers: {
        ...providers,
        judge: { kind: "systemone", base_url: judge.url },
      },
      models,
      decisions: {
        models: [
          {
            id: "decide-1.0.0",
            aliases: ["decide-latest"],
            backend: { kind: "systemone", routes: [{ provider: "judge", model: "jev-1.13.0" }] },
          },
        ],
      },
      health: { probe: "off" },
    },
  });
  site.lists("searxng", [{ url: `${site.url}/`, title: "Example Domain", text: "For examples." }]);
  await addAccount(app);
  const here = <T>(example: T): T => JSON.parse(JSON.stringify(example).replaceAll(EXAMPLE_SITE, site.url)) as T;
  const ask = asker(app, await addManager(app));
  const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as Json;
  return {
    ...{ app, document, ask, here },
    prepare: preparer(app, ask, here),
    async stop() {
      await app.stop();
      await site.stop();
      judge.stop();
      await reader.upstream.stop();
    },
  };
}

async function addAccount({ dataDir }: TestApp): Promise<void> {
  const store = openStore({ dataDir });
  const made = await accountStore(store).createAccount({
    ...{ email: "someone@example.com", username: "someone", passwordHash: "any", tier: "free" },
  });
  store.close();
  if ("refused" in made) throw new Error("no account");
}

/** A management key for the account of the gateway's own key. */
async function addManager({ dataDir, accountId }: TestApp): Promise<string> {
  const store = openStore({ dataDir });
  const { key } = await keyStore(store).createKey({ accountId, name: "manager", management: "account" });
  store.close();
  return key;
}

function upload(): FormData {
  const form = new FormData();
  form.append("purpose", "vision");
  form.append("file", new Blob([PNG], { type: "image/png" }), "dot.png");
  return form;
}

function textFile(): FormData {
  const form = new FormData();
  form.append("file", new Blob(["A text."], { type: "text/plain" }), "a.txt");
  return form;
}

/** The operation that starts each of these, and where the result is found. */
const FIRECRAWL_JOBS: Readonly<Record<string, readonly [start: string, path: string]>> = {
  firecrawlGetCrawl: ["firecrawlStartCrawl", "/v2/crawl/ID"],
  firecrawlGetCrawlErrors: ["firecrawlStartCrawl", "/v2/crawl/ID/errors"],
  firecrawlCancelCrawl: ["firecrawlStartCrawl", "/v2/crawl/ID"],
  firecrawlGetBatch: ["firecrawlStartBatch", "/v2/batch/scrape/ID"],
  firecrawlGetBatchErrors: ["firecrawlStartBatch", "/v2/batch/scrape/ID/errors"],
  firecrawlCancelBatch: ["firecrawlStartBatch", "/v2/batch/scrape/ID"],
  firecrawlGetCrawlErrorsV1: ["firecrawlStartCrawl", "/v1/crawl/ID/errors"],
  firecrawlGetBatchV1: ["firecrawlStartBatchV1", "/v1/batch/scrape/ID"],
  firecrawlGetBatchV1Errors: ["firecrawlStartBatchV1", "/v1/batch/scrape/ID/errors"],
  firecrawlCancelBatchV1: ["firecrawlStartBatchV1", "/v1/batch/scrape/ID"],
  firecrawlGetExtract: ["firecrawlStartExtract", "/v2/extract/ID"],
};

type Ask = DocumentedGateway["ask"];

/** The endpoint of that operation. */
export function endpointOf(id: string): ApiEndpoint {
  const found = ENDPOINTS.find((one) => one.id === id);
  if (found === undefined) throw new Error(`No endpoint is called ${id}.`);
  return found;
}

/** The address that a client calls, with the examples of its parameters. */
function addressOf({ address, path, parameters = [] }: ApiEndpoint): string {
  if (address === undefined) return path;
  return address.replace(/\{(\w+)\}/g, (_match, name: string) =>
    String(parameters.find((one) => one.in === "path" && one.name === name)?.example),
  );
}

function asker(app: TestApp, manager: string): Ask {
  const credentialFor = async (access: ApiEndpoint["access"]) => {
    if (access === "token") return signIn(app);
    return access === "management" ? manager : app.key;
  };
  return async (endpoint, { path = addressOf(endpoint), query = "", body, headers = {} } = {}) => {
    const as = await credentialFor(endpoint.access);
    const isForm = body instanceof FormData;
    const response = await fetch(app.url + path + query, {
      method: endpoint.method,
      redirect: "manual",
      headers: {
        ...(endpoint.access === "open" ? {} : { authorization: `Bearer ${as}` }),
        ...(body === undefined || isForm ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = (response.headers.get("content-type") ?? "").includes("application/json");
    const json = isJson ? (JSON.parse(text) as Json) : {};
    return { status: response.status, headers: response.headers, text, json };
  };
}

/** Each call has its own session, since some of them end it. */
async function signIn(app: TestApp): Promise<string> {
  return String((await tokens(app))["access_token"]);
}

/** The headers of an endpoint as in its examples. */
function headersOf({ parameters = [] }: ApiEndpoint, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    parameters.flatMap(({ name, example }) => (names.includes(name) ? [[name, String(example)]] : [])),
  );
}

async function tokens(app: TestApp): Promise<Json> {
  const response = await fetch(`${app.url}/v1/auth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username_or_email: "someone", password: PASSWORD }),
  });
  return (await response.json()) as Json;
}

/** Creates the objects that endpoints with an id in their path refer to. */
function formWith(fields: Readonly<Record<string, string>>, files: Readonly<Record<string, Blob>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const [name, file] of Object.entries(files)) form.append(name, file, name);
  return form;
}

function projectMakers(ask: Ask, exampleOf: (id: string) => Promise<Json>): Record<string, () => Promise<Call>> {
  const project = async () => `/v1/projects/${(await exampleOf("createProject"))["id"]}`;
  const at =
    (more = "") =>
    async () => ({ path: `${await project()}${more}` });
  return {
    ...{ getProject: at(), changeProject: at(), deleteProject: at() },
    ...{ listProjectMembers: at("/members"), setProjectMember: at("/members") },
    async removeProjectMember() {
      const path = `${await project()}/members`;
      const body = { email: "someone@example.com" };
      await ask(endpointOf("setProjectMember"), { path, body });
      return { path: `${path}/${body.email}` };
    },
  };
}

/** The requests to endpoints about one project or key. */
function managementMakers(ask: Ask, exampleOf: (id: string) => Promise<Json>) {
  const newKey = async () => String((await exampleOf("createKey"))["id"]);
  return { ...projectMakers(ask, exampleOf), ...keyMakers(newKey) };
}

function keyMakers(newId: () => Promise<string>): Record<string, () => Promise<Call>> {
  const keyAt = async (path: string) => `${path}/${await newId()}`;
  return {
    getKey: async () => ({ path: await keyAt("/v1/keys") }),
    updateKey: async () => ({ path: await keyAt("/v1/keys") }),
    deleteKey: async () => ({ path: await keyAt("/v1/keys") }),
    rotateKey: async () => ({ path: `${await keyAt("/v1/keys")}/rotate` }),
    getOpenRouterKeyByHash: async () => ({ path: await keyAt("/api/v1/keys") }),
    updateOpenRouterKey: async () => ({ path: await keyAt("/api/v1/keys") }),
    deleteOpenRouterKey: async () => ({ path: await keyAt("/api/v1/keys") }),
  };
}

function preparer(app: TestApp, ask: Ask, here: DocumentedGateway["here"]): DocumentedGateway["prepare"] {
  const made = async (id: string, body: unknown): Promise<Json> => (await ask(endpointOf(id), { body })).json;
  const response = async () =>
    `/v1/responses/${(await made("createResponse", { model: "demo-echo", input: "Say hello." }))["id"]}`;
  const file = async () => `/v1/files/${(await made("uploadFile", upload()))["id"]}`;
  const crawl = async () =>
    `/v1/crawl/${(await made("startCrawl", here({ url: `${EXAMPLE_SITE}/`, limit: 1 })))["id"]}`;
  const exampleOf = (id: string) => {
    const [example] = Object.values(endpointOf(id).body?.examples ?? {});
    return made(id, here(example));
  };
  const jobOf = async (id: string) => (await exampleOf(id))["job_id"];
  const thread = async () => {
    const messages = [{ role: "user", content: "Say hello." }];
    await made("createChatCompletion", { model: "demo-echo", messages, thread_id: "support-4711" });
    return "/v1/threads/support-4711";
  };
  const conversation = async () => `/v1/conversations/${(await exampleOf("createConversation"))["id"]}`;
  const item = async () => {
    const path = await conversation();
    const { json } = await ask(endpointOf("listConversationItems"), { path: `${path}/items` });
    return `${path}/items/${json["first_id"]}`;
  };
  const makers: Record<string, () => Promise<Call>> = {
    ...managementMakers(ask, exampleOf),
    getResponse: async () => ({ path: await response() }),
    listResponseInputItems: async () => ({ path: `${await response()}/input_items` }),
    deleteResponse: async () => ({ path: await response() }),
    uploadFile: async () => ({ body: upload() }),
    firecrawlParse: async () => ({ body: textFile() }),
    createTranscription: async () => ({
      body: formWith({ model: "demo-transcribe", stream: "true" }, { file: new Blob(["RIFF"]) }),
    }),
    createImageEdit: async () => ({
      body: formWith({ model: "demo-image", prompt: "At night" }, { image: new Blob([PNG], { type: "image/png" }) }),
    }),
    createTranslation: async () => ({ body: formWith({ model: "demo-transcribe" }, { file: new Blob(["RIFF"]) }) }),
    getOpenRouterGeneration: async () => ({
      query: `?id=${(await exampleOf("createChatCompletion"))["id"]}`,
    }),
    getFile: async () => ({ path: await file() }),
    getFileContent: async () => ({ path: `${await file()}/content` }),
    deleteFile: async () => ({ path: await file() }),
    getThread: async () => ({ path: await thread(), query: "?include=messages" }),
    deleteThread: async () => ({ path: await thread() }),
    getModel: async () => ({ path: "/v1/models/demo-echo" }),
    getGeminiModel: async () => ({ path: "/v1beta/models/demo-echo" }),
    getExtract: async () => ({ path: `/v1/extract/${await jobOf("startExtract")}` }),
    cancelExtract: async () => ({ path: `/v1/extract/${await jobOf("startExtract")}` }),
    getLlmstxt: async () => ({ path: `/v1/llmstxt/${await jobOf("startLlmstxt")}` }),
    cancelLlmstxt: async () => ({ path: `/v1/llmstxt/${await jobOf("startLlmstxt")}` }),
    ...runMakers(ask),
    getConversation: async () => ({ path: await conversation() }),
    changeConversation: async () => ({ path: await conversation() }),
    deleteConversation: async () => ({ path: await conversation() }),
    listConversationItems: async () => ({ path: `${await conversation()}/items` }),
    addConversationItems: async () => ({ path: `${await conversation()}/items` }),
    getConversationItem: async () => ({ path: await item() }),
    deleteConversationItem: async () => ({ path: await item() }),
    callMcp: async () => ({ headers: headersOf(endpointOf("callMcp"), ["MCP-Protocol-Version", "Mcp-Method"]) }),
    getCrawl: async () => ({ path: await crawl() }),
    ...Object.fromEntries(
      Object.entries(FIRECRAWL_JOBS).map(([id, [start, path]]) => [
        id,
        async () => ({ path: path.replace("ID", String((await exampleOf(start))["id"])) }),
      ]),
    ),
    cancelCrawl: async () => ({ path: await crawl() }),
    getManualPage: async () => ({ path: "/docs/guides/start" }),
    searchSearxng: async () => ({ query: "?q=web&format=json" }),
    signIn: async () => ({ body: { username_or_email: "someone", password: PASSWORD } }),
    refreshTokens: async () => ({ body: { refresh_token: (await tokens(app))["refresh_token"] } }),
    endSession: async () => {
      await tokens(app);
      const { json } = await ask(endpointOf("listSessions"));
      return { path: `/v1/auth/sessions/${(json["data"] as Json[]).find((one) => one["current"] !== true)?.["id"]}` };
    },
  };
  return async (endpoint) => (await makers[endpoint.id]?.()) ?? {};
}

/** The requests about an agent run. */
function runMakers(ask: Ask): Record<string, () => Promise<Call>> {
  const run = async () => {
    const messages = [{ role: "user", content: "Say hello." }];
    const headers = { "x-sallyport-run": "nightly" };
    await ask(endpointOf("createChatCompletion"), { body: { model: "demo-echo", messages }, headers });
    const { json } = await ask(endpointOf("listRuns"));
    return `/v1/runs/${(json["data"] as { id: string }[])[0]?.id}`;
  };
  return { getRun: async () => ({ path: await run() }), allowRun: async () => ({ path: `${await run()}/allow` }) };
}
