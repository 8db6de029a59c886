// A site whose pages are as expensive to process as possible. It runs in a separate process, so that serving them
// delays nothing.

/** The pages, by kind. */
const PAGES: Readonly<Record<string, () => string>> = {
  "nested-divs": () => page(`${"<div>".repeat(5000)}deep${"</div>".repeat(5000)}`),
  "inline-bold": () => page(`<p>${"<b>x</b> ".repeat(40_000)}</p>`),
  table: () => page(`<table>${`<tr>${"<td>cell</td>".repeat(20)}</tr>`.repeat(2000)}</table>`),
  "ten-megabytes": () =>
    page(`<article>${"<p>Some text with <a href='/a'>a link</a>, and more of it.</p>".repeat(170_000)}</article>`),
  "deep-lists": () => page(`${"<ul><li>item".repeat(1500)}${"</li></ul>".repeat(1500)}`),
  "huge-attributes": () =>
    page(`<div class="${"word ".repeat(400_000)}" style="${"color:red;".repeat(200_000)}"><p>Text</p></div>`.repeat(2)),
  links: () =>
    page(Array.from({ length: 60_000 }, (_, n) => `<a href="/page/${n}?a=${n}&b=${n}">link ${n}</a> `).join("")),
  stars: () => page(`<p>${"*_`[".repeat(500_000)}</p>`),
  "open-tags": () => page("<i><b><em><a href=x>".repeat(20_000)),
  json: () => JSON.stringify(Array.from({ length: 100_000 }, (_, n) => ({ n, text: "x".repeat(40) }))),
  feed: () =>
    `<?xml version="1.0"?><rss><channel>${"<item><title>T</title><description><![CDATA[<p>d</p>]]></description></item>".repeat(60_000)}</channel></rss>`,
};

/**
 * Files that `map` reads instead of pages: a sitemap of forty megabytes, and robots rules that are slow to evaluate.
 */
const LISTS: Readonly<Record<string, () => string>> = {
  "sitemap.xml": () =>
    `<urlset>${Array.from({ length: 400_000 }, (_, n) => `<url><loc>http://127.0.0.1/page/${n}?x=1&amp;y=2</loc><lastmod>2020-01-01</lastmod></url>`).join("")}</urlset>`,
  "robots.txt": () => `User-agent: *\n${`Disallow: /${"*a".repeat(250)}b\n`.repeat(900)}`,
};

const TYPES: Readonly<Record<string, string>> = { json: "application/json", feed: "application/rss+xml" };

function page(body: string): string {
  return `<!doctype html><html lang="en"><head><title>Hostile</title></head><body><main>${body}</main></body></html>`;
}

/** Starts the site. */
export async function startHostileSite(): Promise<{ port: number; kinds: readonly string[]; stop(): void }> {
  const child = Bun.spawn([process.execPath, import.meta.path], { stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  return {
    port: Number(new TextDecoder().decode(value)),
    kinds: Object.keys(PAGES),
    stop: () => child.kill("SIGKILL"),
  };
}

if (import.meta.main) {
  const bodies = new Map(
    Object.entries({ ...PAGES, ...LISTS }).map(([kind, make]) => [kind, new TextEncoder().encode(make())]),
  );
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const kind = new URL(request.url).pathname.slice(1);
      const body = bodies.get(kind);
      const type = TYPES[kind] ?? "text/html; charset=utf-8";
      return body === undefined
        ? new Response(null, { status: 404 })
        : new Response(body, { headers: { "content-type": type } });
    },
  });
  process.stdout.write(`${server.port}\n`);
}
