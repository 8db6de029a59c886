// A site of many pages on several loopback addresses, in a separate process. Usage: bun scripts/bench/crawl/site.ts DIR
// HOSTS, where DIR contains *.html or *.html.gz. Prints its port. /list/N links to a hundred pages.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [directory = ".", hosts = "1"] = process.argv.slice(2);

const PAGES_PER_LIST = 100;
/** The addresses of the site's hosts. */
const addresses = Array.from({ length: Number(hosts) }, (_, index) => `127.0.0.${index + 1}`);

const pages = readdirSync(directory)
  .filter((name) => /\.html(\.gz)?$/.test(name))
  .sort()
  .map((name) => {
    const bytes = new Uint8Array(readFileSync(join(directory, name)));
    return name.endsWith(".gz") ? bytes : Bun.gzipSync(bytes);
  });
const lists = Array.from({ length: Math.ceil(pages.length / PAGES_PER_LIST) }, (_, list) => {
  const links = pages
    .map((_page, index) => `<li><a href="/page/${index}">Page ${index}</a></li>`)
    .slice(list * PAGES_PER_LIST, (list + 1) * PAGES_PER_LIST)
    .join("\n");
  return Bun.gzipSync(`<!doctype html><title>List</title><main><h1>List</h1><ul>${links}</ul></main>`);
});
const headers = {
  "content-type": "text/html",
  "content-encoding": "gzip",
  // The browser must not look for the hosts of scripts and pictures, which it would wait for.
  "content-security-policy": "default-src 'self' 'unsafe-inline' 'unsafe-eval' data:",
};

function answer(request: Request): Response {
  const { pathname } = new URL(request.url);
  const [, kind = "", number = ""] = /^\/(page|list)\/(\d+)$/.exec(pathname) ?? [];
  const among = kind === "list" ? lists : pages;
  const page = number === "" ? undefined : among[Number(number) % among.length];
  return page === undefined ? new Response("", { status: 404 }) : new Response(page, { headers });
}

const { port } = Bun.serve({ hostname: addresses[0] as string, port: 0, fetch: answer });
for (const hostname of addresses.slice(1)) Bun.serve({ hostname, port: port as number, fetch: answer });
process.stdout.write(`${port}\n`);
