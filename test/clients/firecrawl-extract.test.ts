// Firecrawl's own client (the v1 API) extracts with the running program; only its address is changed.

import { afterAll, beforeAll, expect, test } from "bun:test";
import FirecrawlApp from "@mendable/firecrawl-js";
import { type FakeSite, startFakeSite } from "../support/fake-site.ts";
import { type Program, startProgram } from "../support/program.ts";
import { linesPage, modelConfig, type ScriptedModel, startModel } from "../web/extract-script.ts";

let site: FakeSite;
let model: ScriptedModel;
let app: Program;
let client: FirecrawlApp;

beforeAll(async () => {
  site = startFakeSite({ "/lamp": linesPage("Lamp", ["Name: Desk lamp", "Price: 19.50 EUR"]) });
  model = startModel();
  app = await startProgram({ web: { allow_hosts: [site.host], render: "never" }, ...modelConfig(model) });
  client = new FirecrawlApp({ apiKey: app.key, apiUrl: app.url });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
  await model.upstream.stop();
});

// The client's own type accepts only schemas of another library.
const schema = { type: "object", properties: { name: { type: "string" }, price: { type: "number" } } } as never;
const good = { name: "Desk lamp", price: 19.5 };

test("extract", async () => {
  const prompt = "The product.";
  const found = await client.extract([`${site.url}/lamp`], {
    prompt,
    schema,
    systemPrompt: "Be exact.",
    allowExternalLinks: false,
  });
  if (!found.success) throw new Error(found.error);
  expect(found.data as unknown).toEqual(good);
  expect(found.sources as unknown).toMatchObject({ price: [{ url: `${site.url}/lamp`, quote: "Price: 19.50 EUR" }] });
  expect(model.asked[0]?.system).toContain("Be exact.");
  // Without a prompt, which these clients may omit if there is a schema.
  const again = await client.extract([`${site.url}/lamp`], { schema });
  expect(again.success && (again.data as unknown)).toEqual(good);
});

test("asyncExtract and getExtractStatus", async () => {
  const started = await client.asyncExtract([`${site.url}/lamp`], { prompt: "The product.", schema });
  if (!("id" in started) || started.id === undefined) throw new Error("the extraction did not start");
  for (;;) {
    const status = (await client.getExtractStatus(String(started.id))) as {
      status: string;
      data: unknown;
      expiresAt: string;
    };
    expect(Date.parse(status.expiresAt)).toBeGreaterThan(0);
    if (status.status === "processing") continue;
    expect([status.status, status.data]).toEqual(["completed", good]);
    break;
  }
});

test("a failure has a message", async () => {
  const wrong = { prompt: "x", schema: { type: "nothing" } as never };
  await expect(client.extract([`${site.url}/lamp`], wrong)).rejects.toThrow();
  const response = await fetch(`${app.url}/v1/extract`, {
    method: "POST",
    headers: { authorization: `Bearer ${app.key}`, "content-type": "application/json" },
    body: JSON.stringify({ urls: [`${site.url}/lamp`], ...wrong, origin: "js-sdk@1" }),
  });
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { success: false, error: expect.stringContaining("schema.type"), code: "invalid_request", param: "schema.type" },
  ]);
});
