// The web tools in the dashboard: their forms contain the parameters of the API, and their requests count like any
// others.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { openApi } from "../../src/app/endpoints.ts";
import { FieldProblem, type ToolField, toolBody, WEB_TOOLS } from "../../src/dashboard/ui/web/tools.ts";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { type FakeSite, startFakeSite } from "../support/fake-site.ts";
import { webConfig } from "../web/support.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

let app: AccountsApp;
let site: FakeSite;
let held: PromiseWithResolvers<void>;

beforeAll(async () => {
  held = Promise.withResolvers();
  site = startFakeSite({
    "/": `<title>Home</title><main><h1>Home</h1><p>${"Words that fill a page. ".repeat(20)}</p></main>`,
    "/held": async () => {
      await held.promise;
      return new Response("late");
    },
  });
  app = await startAccountsApp({ config: { ...webConfig([site.host]), tiers: { free: { rpm: 8 } } } });
});
afterAll(async () => {
  held.resolve();
  await app.stop();
  await site.stop();
});

async function signedIn(name: string): Promise<DashboardClient> {
  await app.addAccount(name);
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: name, password: PASSWORD });
  return client;
}

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
}

/** The members of a request's body in the API's description. */
function described(path: string): Schema {
  const document = openApi("http://x") as {
    paths: Record<string, { post: { requestBody: { content: { "application/json": { schema: Schema } } } } }>;
    components: { schemas: Record<string, Schema> };
  };
  const schema = document.paths[path]?.post.requestBody.content["application/json"].schema;
  const named = schema?.$ref?.split("/").at(-1);
  return (named === undefined ? schema : document.components.schemas[named]) as Schema;
}

/** Starting a job returns at once, since the page then follows it. */
const LEFT_OUT = { extract: ["timeout_seconds"], llmstxt: ["timeout_seconds"] } as Readonly<Record<string, string[]>>;

test.each(WEB_TOOLS.map((tool) => [tool.slug, tool] as const))("the form of %s has the API's fields", (slug, tool) => {
  const schema = described(`/v1/${slug}`);
  const names = Object.keys(schema.properties ?? {}).filter((name) => !LEFT_OUT[slug]?.includes(name));
  expect(tool.fields.map(({ name }) => name).sort()).toEqual(names.sort());
  const required = tool.fields.flatMap((field) => (field.required ? [field.name] : []));
  expect(required.sort()).toEqual([...(schema.required ?? [])].sort());
  for (const field of tool.fields) {
    const member = schema.properties?.[field.name] as Schema;
    const bounds = field.kind === "number" ? [member.minimum, member.maximum] : [field.min, field.max];
    expect([field.name, field.min, field.max]).toEqual([field.name, ...bounds] as [string, number, number]);
    if (field.kind === "choice") expect(field.choices).toEqual(member.enum as string[]);
    if (field.kind === "choices") for (const one of field.choices ?? []) expect(member.items?.enum).toContain(one);
    if (field.kind === "switch") expect([field.name, field.initial]).toEqual([field.name, String(member.default)]);
  }
});

test("a body holds what was chosen and nothing else, and what cannot be sent names its field", () => {
  const [scrape, crawl] = WEB_TOOLS;
  const all = Object.fromEntries(scrape.fields.map(({ name, initial = "" }: ToolField) => [name, initial]));
  expect(toolBody(scrape, { ...all, url: "example.com/a:b" })).toEqual({ url: "https://example.com/a:b" });
  const chosen = { url: " http://x.example ", formats: "links\nhtml", only_main_content: "false", timeout_ms: "2000" };
  expect(toolBody(scrape, chosen)).toEqual({
    url: "http://x.example",
    formats: ["links", "html"],
    only_main_content: false,
    timeout_ms: 2000,
  });
  if (crawl === undefined) throw new Error("there is no second tool");
  expect(toolBody(crawl, { url: "x.example", include_paths: "/a/**\n\n /b \n" })).toMatchObject({
    include_paths: ["/a/**", "/b"],
  });
  const wrong = (values: Record<string, string>) => {
    try {
      return toolBody(crawl, values);
    } catch (error) {
      return error instanceof FieldProblem ? error.field : error;
    }
  };
  for (const limit of ["0", "101", "1.5", "many"])
    expect([limit, wrong({ url: "x", limit })]).toEqual([limit, "limit"]);
  expect(wrong({ url: "  " })).toBe("url");
});

test("a page is scraped, a mistake names its field, and the plan's rate holds", async () => {
  const client = await signedIn("scraper");
  const scrape = (body: object) => client.post("/playground/web/scrape", body);
  const page = await scrape({ url: `${site.url}/` });
  expect(page.json.data.metadata).toMatchObject({ title: "Home", statusCode: 200 });
  expect(page.headers.get("x-request-id")).not.toBe("");
  expect((await scrape({ url: "nothing" })).json.error).toMatchObject({ code: "invalid_request", param: "url" });
  expect((await scrape({ url: "http://10.0.0.1/" })).json.error.code).toBe("url_not_allowed");
  expect((await client.post("/playground/web/map", { url: `${site.url}/` })).json.success).toBe(true);
  const statuses: number[] = [];
  for (let i = 0; i < 5; i++) statuses.push((await scrape({ url: "nothing" })).status);
  expect(statuses).toEqual([400, 400, 400, 400, 429]);
  expect((await client.post("/playground/web/none", {})).json.error.code).toBe("method_not_allowed");
  expect((await dashboardClient(app).post("/playground/web/scrape", { url: site.url })).status).toBe(401);
});

test("jobs are started, not waited for, and are the account's own", async () => {
  const client = await signedIn("starter");
  const other = await signedIn("stranger");
  for (const [tool, body] of [
    ["crawl", { url: `${site.url}/held` }],
    ["llmstxt", { url: `${site.url}/held?l` }],
    ["extract", { urls: [`${site.url}/held?e`], prompt: "p", schema: { type: "object", properties: { a: {} } } }],
  ] as const) {
    const { json } = await client.post(`/playground/web/${tool}`, body);
    expect([tool, json.job_id]).toEqual([tool, expect.stringMatching(new RegExp(`^${tool}_`))]);
    expect((await client.get(`/jobs/${json.job_id}`)).json).toMatchObject({ kind: tool });
    expect((await other.get(`/jobs/${json.job_id}`)).status).toBe(404);
    expect((await client.delete(`/jobs/${json.job_id}`)).json).toEqual({ success: true });
  }
});
