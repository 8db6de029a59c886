// What the built program makes of web pages: its threads and the code that it reads on demand.

import { strictEqual } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

type Run = (...args: string[]) => Promise<{ code: number; stdout: string; stderr: string }>;

/** Extracts data of a page; throws if the answer is another than the page's. */
export function checkExtract(home: string, run: Run): Promise<void> {
  const product = '{"@type":"Product","name":"Kettle","offers":{"price":"19.90"}}';
  const page = `<title>Kettle</title><script type="application/ld+json">${product}</script><p>A kettle.</p>`;
  const schema = join(home, "schema.json");
  const name = { type: "string", maxLength: 3 };
  writeFileSync(schema, JSON.stringify({ type: "object", properties: { name, price: { type: "number" } } }));
  return withSite(page, home, async (url, config) => {
    const asked = ["--prompt", "The product", "--schema", schema, "--model", "none", "--config", config];
    const { code, stdout, stderr } = await run("extract", url, ...asked);
    strictEqual(code, 0, stderr);
    strictEqual(stdout, '{\n  "name": "Kettle",\n  "price": 19.9\n}\n');
    strictEqual(stderr.includes("must NOT have more than 3 characters"), true, stderr);
  });
}

/** Turns a page into Markdown; throws if it is not what was expected. */
export function checkScrape(home: string, run: Run): Promise<void> {
  const page = "<title>Kettle</title><main><h1>Kettle</h1><p>A kettle of <b>steel</b>.</p></main>";
  return withSite(page, home, async (url, config) => {
    const { code, stdout, stderr } = await run("scrape", url, "--config", config);
    strictEqual(code, 0, stderr);
    strictEqual(stdout.includes("A kettle of **steel**."), true, stdout);
  });
}

async function withSite(page: string, home: string, use: (url: string, config: string) => Promise<void>) {
  const site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(page, { headers: { "content-type": "text/html" } }),
  });
  const config = join(home, "pages.yaml");
  writeFileSync(config, `data_dir: ${home}\nweb:\n  allow_hosts: ["${site.hostname}:${site.port}"]\n`);
  try {
    await use(site.url.href, config);
  } finally {
    await site.stop(true);
  }
}
