// Pages with sufficient structured data need no model. If a model is used, it is given that data.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, startFakeSite } from "../support/fake-site.ts";
import { honest, linesPage, modelConfig, type ScriptedModel, startModel } from "./extract-script.ts";
import { webConfig } from "./support.ts";

let site: FakeSite;
let model: ScriptedModel;
let app: TestApp;

const product = {
  "@context": "https://schema.org",
  "@type": "Product",
  name: "Desk lamp",
  brand: { "@type": "Brand", name: "Lumo" },
  offers: { "@type": "Offer", price: "19.50", priceCurrency: "EUR" },
};
const ldPage = (title: string, lines: readonly string[]) =>
  linesPage(title, lines).replace(
    "</head>",
    `<script type="application/ld+json">${JSON.stringify(product)}</script></head>`,
  );

beforeAll(async () => {
  site = startFakeSite({ "/lamp": ldPage("A lamp", ["It is red."]), "/more": ldPage("A lamp", ["Stock: 4"]) });
  model = startModel();
  app = await startTestApp({ config: config() });
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

const config = (web: object = {}) => ({ ...webConfig([site.host], { ...web }), ...modelConfig(model) });
const schemaOf = (...fields: string[]) => ({
  type: "object",
  properties: Object.fromEntries(
    fields.map((field) => [field, { type: field === "price" ? "number" : field === "stock" ? "integer" : "string" }]),
  ),
});

async function extract(path: string, schema: object) {
  const response = await app.post("/v1/extract", { urls: [site.url + path], prompt: "The product.", schema });
  const json = (await response.json()) as Record<string, unknown>;
  return { http: response.status, ...json } as {
    http: number;
    data: unknown;
    sources: Record<string, { quote: string }[]>;
    unsupported: string[];
    warnings: string[];
    error: { code: string; message: string };
  };
}

test("where structured data is sufficient, no model is called", async () => {
  const answer = await extract("/lamp", schemaOf("name", "brand", "price"));
  expect(answer).toMatchObject({ http: 200, data: { name: "Desk lamp", brand: "Lumo", price: 19.5 }, unsupported: [] });
  expect(answer.sources["price"]?.[0]?.quote).toContain("19.50");
  expect(model.asked).toEqual([]);
});

test("where structured data is partial, the model gets it beside the text, and fields that it leaves open are taken from the data", async () => {
  const answer = await extract("/more", schemaOf("name", "price", "stock"));
  expect(answer).toMatchObject({ http: 200, data: { name: "Desk lamp", price: 19.5, stock: 4 }, unsupported: [] });
  expect(model.asked).toHaveLength(1);
  expect(model.asked[0]?.page).toContain('"priceCurrency":"EUR"');
});

test("web.model: none returns the existing data, and names the missing fields", async () => {
  await app.reconfigure(config({ model: "none" }));
  const answer = await extract("/more", schemaOf("name", "price", "stock"));
  expect(answer).toMatchObject({
    http: 200,
    data: { name: "Desk lamp", price: 19.5, stock: null },
    unsupported: ["stock"],
  });
  const nothing = await extract("/more", schemaOf("stock", "weight"));
  expect([nothing.http, nothing.error.code]).toEqual([502, "extract_unavailable"]);
  expect(nothing.error.message).toContain("stock, weight");
  expect(model.asked).toEqual([]);
  await app.reconfigure(config());
});

test("a model above the caller's plan only causes an error if it is needed", async () => {
  const poor = await startTestApp({ config: { ...config({ model: "reader" }), ...proModel() }, tier: "free" });
  const ask = async (path: string, schema: object) => {
    const body = { urls: [site.url + path], prompt: "The product.", schema };
    const response = await poor.post("/v1/extract", body);
    return [response.status, await response.json()];
  };
  try {
    expect(await ask("/lamp", schemaOf("name", "price"))).toMatchObject([
      200,
      { data: { name: "Desk lamp", price: 19.5 } },
    ]);
    expect(await ask("/lamp", schemaOf("stock"))).toMatchObject([403, { error: { code: "tier_required" } }]);
  } finally {
    await poor.stop();
  }
});

const proModel = () => {
  const { models } = modelConfig(model) as { models: object[] };
  return { models: models.map((one) => ({ ...one, tier: "pro" })) };
};

test("without a suitable model, structured data is enough if it is complete", async () => {
  await app.reconfigure({ ...config(), models: [] });
  expect(await extract("/lamp", schemaOf("name", "price"))).toMatchObject({
    http: 200,
    data: { name: "Desk lamp", price: 19.5 },
  });
  const answer = await extract("/lamp", schemaOf("name", "stock"));
  expect([answer.http, answer.error.code]).toEqual([502, "extract_unavailable"]);
  await app.reconfigure(config());
});
