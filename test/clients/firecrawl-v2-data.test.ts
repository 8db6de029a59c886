// The data that Firecrawl's current client (the v2 API) receives from searches, maps and extraction.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Firecrawl } from "firecrawl";
import { page } from "../support/fake-site.ts";
import { type Program, startProgram } from "../support/program.ts";
import { linesPage, modelConfig, type ScriptedModel, startModel } from "../web/extract-script.ts";
import { type SearchSite, startSearchSite } from "../web/search-site.ts";

let site: SearchSite;
let model: ScriptedModel;
let app: Program;
let client: Firecrawl;

beforeAll(async () => {
  site = startSearchSite({
    "/": page("Home", ["/lamp?ref=1", "/about"]),
    "/about": page("About"),
    "/lamp": linesPage("Lamp", ["Name: Desk lamp", "Price: 19.50 EUR"]),
    "/sitemap.xml": () =>
      new Response(`<urlset><url><loc>${site.url}/listed</loc></url></urlset>`, {
        headers: { "content-type": "application/xml" },
      }),
  });
  model = startModel();
  app = await startProgram({
    web: { allow_hosts: [site.host], render: "never" },
    ...site.config(["searxng"]),
    ...modelConfig(model),
  });
  client = new Firecrawl({ apiKey: app.key, apiUrl: app.url });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
  await model.upstream.stop();
});

const schema = { type: "object", properties: { name: { type: "string" }, price: { type: "number" } } };
const good = { name: "Desk lamp", price: 19.5 };

test("map, by the site's lists and by its links", async () => {
  const paths = async (options: Parameters<typeof client.map>[1]) =>
    (await client.map(site.url, options)).links.map(({ url }) => url.slice(site.url.length)).sort();
  expect(await paths({})).toEqual(["/", "/about", "/lamp?ref=1", "/listed"]);
  expect(await paths({ sitemap: "skip" })).toEqual(["/", "/about", "/lamp?ref=1"]);
  expect(await paths({ sitemap: "only" })).toEqual(["/", "/listed"]);
  expect(await paths({ sitemap: "skip", ignoreQueryParameters: true })).toEqual(["/", "/about", "/lamp"]);
  expect(await paths({ search: "about" })).toEqual(["/about"]);
  expect(await paths({ limit: 1 })).toHaveLength(1);
});

test("search, with pages and by domain", async () => {
  site.lists("searxng", [
    { url: `${site.url}/lamp`, title: "Lamp", text: "A lamp." },
    { url: "https://elsewhere.example/", title: "Elsewhere", text: "Far." },
  ]);
  const plain = await client.search("lamp", { limit: 2 });
  expect(plain.web).toMatchObject([
    { url: `${site.url}/lamp`, title: "Lamp", description: "A lamp.", position: 1 },
    {},
  ]);
  const pages = await client.search("lamp", { limit: 2, scrapeOptions: { formats: ["markdown"] } });
  expect(JSON.stringify(pages.web?.[0])).toContain("Desk lamp");
  const near = await client.search("lamp", { includeDomains: ["127.0.0.1"] });
  expect(near.web).toHaveLength(1);
  const far = await client.search("lamp", { excludeDomains: ["127.0.0.1"] });
  expect(far.web).toMatchObject([{ url: "https://elsewhere.example/" }]);
  const news = await client.search("lamp", { sources: ["news"] });
  expect(Object.keys(news)).not.toContain("web");
  expect(news.news?.[0]).toMatchObject({ url: `${site.url}/lamp`, title: "Lamp", snippet: "A lamp." });
});

test("parse", async () => {
  const text = linesPage("Sent", ["Name: Desk lamp"]);
  const file = { filename: "sent.html", data: text, contentType: "text/html" };
  const sent = await client.parse(file, { formats: ["markdown", "links"] });
  expect([sent.markdown?.includes("Name: Desk lamp"), sent.links, sent.metadata?.sourceURL]).toEqual([
    true,
    [],
    "sent.html",
  ]);
  const words = await client.parse({ filename: "a.txt", data: "Only words.", contentType: "text/plain" });
  expect(words.markdown).toBe("Only words.");
  const broken = { filename: "a.bin", data: new Uint8Array([0, 1, 2]), contentType: "image/png" };
  await expect(client.parse(broken)).rejects.toThrow("not an HTML page");
});

test("extract, to its end and as a job", async () => {
  const found = await client.extract({ urls: [`${site.url}/lamp`], prompt: "The product.", schema, pollInterval: 1 });
  expect([found.status, found.data]).toEqual(["completed", good]);
  const started = await client.startExtract({ urls: [`${site.url}/lamp`], schema });
  expect(started.id).toStartWith("extract_");
  await expect(client.getExtractStatus("extract_unknown")).rejects.toThrow("no job with this id");
});

test("a page as data, as a summary and as an answer", async () => {
  const data = await client.scrape(`${site.url}/lamp`, { formats: [{ type: "json", schema, prompt: "The product." }] });
  expect(data.json).toEqual(good);
  expect(data.markdown).toBeUndefined();
  model.script(() => "It is a lamp.");
  const summary = await client.scrape(`${site.url}/lamp`, { formats: ["summary"] });
  expect(summary.summary).toBe("It is a lamp.");
  model.script(() => "19.50 EUR.");
  const answer = await client.scrape(`${site.url}/lamp`, {
    formats: [{ type: "query", prompt: "What does it cost?" }],
  });
  expect(answer.answer).toBe("19.50 EUR.");
});
