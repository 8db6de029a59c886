import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, startFakeSite } from "../support/fake-site.ts";
import { honest, linesPage, modelConfig, type ScriptedModel, startModel } from "./extract-script.ts";
import { webConfig } from "./support.ts";

let site: FakeSite;
let model: ScriptedModel;
let app: TestApp;

beforeAll(async () => {
  site = startFakeSite({
    "/lamp": linesPage("Lamp", ["Name: Desk lamp", "Price: 19.50 EUR", "Stock: 4"]),
  });
  model = startModel();
  app = await startTestApp({ config: { ...webConfig([site.host]), ...modelConfig(model) } });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
  await model.upstream.stop();
});
beforeEach(() => {
  model.script(honest);
  model.asked.length = 0;
});

const SCHEMA = {
  type: "object",
  properties: { name: { type: "string" }, price: { type: "number" }, stock: { type: "integer" } },
  required: ["name", "price"],
};

test("one page, by a schema", async () => {
  const response = await app.post("/v1/extract", {
    urls: [`${site.url}/lamp`],
    prompt: "The product.",
    schema: SCHEMA,
  });
  expect(response.status).toBe(200);
  const answer = (await response.json()) as Record<string, unknown>;
  const url = `${site.url}/lamp`;
  expect(answer).toEqual({
    success: true,
    job_id: expect.stringMatching(/^extract_/),
    id: answer["job_id"] as string,
    status: "completed",
    data: { name: "Desk lamp", price: 19.5, stock: 4 },
    sources: {
      name: [{ url, quote: "Name: Desk lamp" }],
      price: [{ url, quote: "Price: 19.50 EUR" }],
      stock: [{ url, quote: "Stock: 4" }],
    },
    unsupported: [],
    warnings: [],
    total: 1,
    completed: 1,
    creditsUsed: 1,
    created_at: expect.any(String),
    expires_at: expect.any(String),
    expiresAt: answer["expires_at"] as string,
  });
  // A job can also be polled if the request waited for its result.
  expect(await (await app.call(`/v1/extract/${answer["job_id"]}`)).json()).toEqual(answer);
  expect(model.asked).toHaveLength(1);
});
