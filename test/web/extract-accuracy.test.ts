// The accuracy of extraction from page to data, with a model that reads correctly: twenty hand-written pages, each with its
// schema, the expected data and the supporting quotes. Structured data is found without a model.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "../../src/base/json-object.ts";
import { quoteStands } from "../../src/web/extract/quotes.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, startFakeSite } from "../support/fake-site.ts";
import { type Asked, modelConfig, type ScriptedModel, startModel } from "./extract-script.ts";
import { webConfig } from "./support.ts";

type Quotes = string | readonly string[];

/** The request for a page, and the correct answer. */
interface Case {
  readonly prompt: string;
  readonly schema: object;
  readonly value: unknown;
  /**
   * The quotes by field. For a list there is one quote for each entry, or one for the whole list. A list at the root has them by
   * entry.
   */
  readonly quotes?: Readonly<Record<string, Quotes>> | readonly string[];
  /** False if the page's structured data is sufficient without a model. */
  readonly model?: boolean;
}

const folder = join(import.meta.dir, "extract-pages");
const read = (file: string) => readFileSync(join(folder, file), "utf8");
const names = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.replace(/\.json$/, ""))
  .sort();
const cases = new Map(names.map((name) => [name, JSON.parse(read(`${name}.json`)) as Case]));
const isAsked = ([, { model }]: [string, Case]) => model !== false;

let site: FakeSite;
let model: ScriptedModel;
let app: TestApp;
beforeAll(async () => {
  site = startFakeSite(Object.fromEntries(names.map((name) => [`/${name}`, read(`${name}.html`)])));
  model = startModel(right);
  app = await startTestApp({ config: { ...webConfig([site.host]), ...modelConfig(model) } });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
  await model.upstream.stop();
});

/** Answers with the data that this part of the page states, with the supporting quotes, and nothing else. */
function right({ url, page }: Asked): unknown {
  const { value, quotes = {} } = cases.get(new URL(url).pathname.slice(1)) as Case;
  const said = (quote: string) => quoteStands(page, quote);
  const entries = (list: readonly unknown[], each: readonly string[]) => {
    const kept = list.flatMap((entry, at) => (said(each[at] ?? "") ? [{ entry, quote: each[at] ?? "" }] : []));
    return { value: kept.map(({ entry }) => entry), quotes: kept.map(({ quote }) => quote) };
  };
  if (Array.isArray(value)) return entries(value, quotes as readonly string[]);
  const answer = { value: {} as Record<string, unknown>, quotes: {} as Record<string, Quotes> };
  for (const [field, whole] of Object.entries(value as object)) {
    const given = (quotes as Record<string, Quotes>)[field] ?? [];
    const each = [given].flat();
    const found = Array.isArray(whole) && whole.length === each.length ? entries(whole, each) : undefined;
    answer.value[field] = found?.value ?? (each.length > 0 && each.every(said) ? whole : null);
    answer.quotes[field] = found?.quotes ?? each.filter(said);
  }
  return answer;
}

interface Answer {
  readonly status: string;
  readonly data: unknown;
  readonly sources: Readonly<Record<string, readonly { readonly url: string; readonly quote: string }[]>>;
  readonly unsupported: readonly string[];
}

async function extract(name: string, more: object = {}): Promise<Answer> {
  const { prompt, schema } = cases.get(name) as Case;
  const urls = [`${site.url}/${name}`];
  const response = await app.post("/v1/extract", { urls, prompt, schema, timeout_seconds: 120, ...more });
  const answer = await response.json();
  expect(response.status, JSON.stringify(answer)).toBe(200);
  return answer as Answer;
}

const nullFields = (value: unknown) =>
  isRecord(value) ? Object.keys(value).filter((field) => value[field] === null) : [];

test("twenty pages of six kinds", () => {
  const kinds = names.map((name) => name.replace(/-.*/, ""));
  expect(names).toHaveLength(20);
  for (const kind of ["product", "event", "job", "recipe", "article", "table"])
    expect([kind, kinds.filter((one) => one === kind).length >= 3]).toEqual([kind, true]);
});

describe("every field that the page states is exact, the others are null and listed", () => {
  test.each([...cases].filter(isAsked).map(([name]) => name))("%s", async (name) => {
    const { value } = cases.get(name) as Case;
    const { data, sources, unsupported } = await extract(name);
    expect(data).toEqual(value as never);
    expect([...unsupported].sort()).toEqual(nullFields(value).sort());
    if (!isRecord(value)) return;
    const supported = Object.keys(value).filter((field) => value[field] !== null);
    expect(Object.keys(sources).sort()).toEqual(supported.sort());
    for (const source of Object.values(sources).flat()) expect(source.url).toBe(`${site.url}/${name}`);
  });
});

describe("structured data of a page needs no model", () => {
  test.each([...cases].filter((one) => !isAsked(one)).map(([name]) => name))("%s", async (name) => {
    const asked = model.asked.length;
    const { value } = cases.get(name) as Case;
    const { data, sources, unsupported } = await extract(name);
    expect(data).toEqual(value as never);
    expect(unsupported).toEqual([]);
    expect(Object.keys(sources).sort()).toEqual(Object.keys(value as object).sort());
    expect(model.asked).toHaveLength(asked);
  });
});

test("pages of one kind give one list together", async () => {
  const urls = ["product-described", "product-kettle"].map((name) => `${site.url}/${name}`);
  const item = { type: "object", properties: { name: { type: "string" }, price: { type: "number" } } };
  const schema = { type: "object", properties: { products: { type: "array", items: item } } };
  model.script(({ url, page }) =>
    url.endsWith("kettle") && page.includes("49.90")
      ? {
          value: { products: [{ name: "Aster 1.7 l kettle", price: 49.9 }] },
          quotes: { products: ["Aster 1.7 l kettle"] },
        }
      : { value: { products: [] }, quotes: {} },
  );
  const { data } = await extract("product-kettle", { urls, schema });
  model.script(right);
  expect(data).toEqual({
    products: [
      { name: "Fern desk", price: 389 },
      { name: "Aster 1.7 l kettle", price: 49.9 },
    ],
  });
});
