// What the documents' examples are about: a gateway with the models that they name, and a site with the pages that they read.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../src/store/engine/open.ts";
import { UsageWriter } from "../../src/store/usage/writer.ts";
import { verbsOf } from "../../src/store/verbs.ts";
import { nativeAnswers, startFake } from "../decisions/support.ts";
import { usageRecord } from "../store/records.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { pdfOf, shown } from "../support/pdf.ts";
import { linesPage, modelConfig, startModel } from "../web/extract-script.ts";
import { startSearchSite } from "../web/search-site.ts";
import { startCrawl, webConfig } from "../web/support.ts";
import type { SnippetWorld } from "./snippets.ts";

/** A gateway for examples. */
export interface ExampleGateway {
  readonly app: TestApp;
  /** For every example. */
  world(): Promise<SnippetWorld>;
  stop(): Promise<void>;
}

const LINKS = ["docs/", "docs/start", "lamp"].map((path) => `<a href="/${path}">${path}</a>`).join(" ");

/** The site of the examples, which is found by its search engine. */
export function startExampleSite() {
  const site = startSearchSite({
    "/": linesPage("Example Domain", ["For examples."], LINKS),
    "/docs/": linesPage("Documentation", ["Where to begin."], LINKS),
    "/docs/start": linesPage("Start", ["Begin here."]),
    "/lamp": linesPage("Desk lamp", ["Name: Desk lamp", "Price: 19.50 EUR"]),
    "/report.pdf": () =>
      new Response(pdfOf(shown("The report of the year")), { headers: { "content-type": "application/pdf" } }),
    "/robots.txt": () => new Response(""),
  });
  site.lists("searxng", [{ url: `${site.url}/`, title: "Example Domain", text: "For examples." }]);
  return site;
}

/** Starts it. */
export async function startExampleGateway(): Promise<ExampleGateway> {
  const site = startExampleSite();
  const judge = startFake(nativeAnswers);
  const reader = startModel();
  const { providers, models } = modelConfig(reader) as { providers: object; models: object[] };
  const routes = [{ provider: "judge", model: "jev-1.13.0" }];
  const app = await startTestApp({
    key: { rpm: 1_000_000 },
    config: {
      ...webConfig([site.host]),
      ...site.config(["searxng"]),
      providers: { ...providers, judge: { kind: "systemone", base_url: judge.url } },
      models,
      decisions: {
        models: [{ id: "judge-1.0.0", aliases: ["judge-latest"], backend: { kind: "systemone", routes } }],
      },
      health: { probe: "off" },
    },
  });
  return {
    app,
    async world() {
      const job = await startCrawl(app, { url: `${site.url}/`, limit: 1 });
      return { url: app.url, key: app.key, site: site.url, words: { $JOB: job } };
    },
    async stop() {
      await app.stop();
      await site.stop();
      judge.stop();
      await reader.upstream.stop();
    },
  };
}

/** A folder with a configuration and a database, for commands. */
export interface ExampleFolder {
  readonly folder: string;
  readonly words: Readonly<Record<string, string>>;
  remove(): void;
}

/** Makes it: an account, a key, and a request that failed. */
export async function makeExampleFolder(config: Record<string, unknown>): Promise<ExampleFolder> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-examples-"));
  writeFileSync(join(folder, "sallyport.yaml"), JSON.stringify({ data_dir: "./data", ...config }));
  const dataDir = join(folder, "data");
  mkdirSync(dataDir, { mode: 0o700 });
  const store = openStore({ dataDir });
  const verbs = verbsOf(store, Date.now);
  const made = await verbs.accounts.createAccount({ username: "ada", email: "ada@example.com", tier: "pro" });
  if ("refused" in made) throw new Error(made.refused);
  const { id: keyId } = await verbs.keys.createKey({ accountId: made.id, name: "ada's" });
  const writer = new UsageWriter(verbs.usage);
  const ofWhom = { accountId: made.id, keyId, createdAtMs: Date.now() };
  writer.record(usageRecord({ ...ofWhom, requestId: "req-failed", status: 502, errorCode: "provider_error" }));
  await writer.close();
  store.close();
  return {
    ...{ folder, words: { KEY_ID: keyId, REQUEST_ID: "req-failed" } },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
