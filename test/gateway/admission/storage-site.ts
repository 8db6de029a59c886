// A site with large pages that all link to each other.

/** Starts it. */
export function startSite() {
  let asked = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/robots.txt") return new Response("", { status: 404 });
      asked++;
      const links = Array.from({ length: 30 }, (_, at) => `<a href="/page-${at}">Page ${at}</a>`).join(" ");
      const text = Array.from({ length: 60 }, (_, at) => `<p>${pathname} says ${at}: ${"many words ".repeat(20)}</p>`);
      const html = `<html><body><main><h1>${pathname}</h1>${text.join("")}</main>${links}</body></html>`;
      return new Response(html, { headers: { "content-type": "text/html" } });
    },
  });
  const host = `127.0.0.1:${server.port}`;
  return { host, origin: `http://${host}`, asked: () => asked, stop: () => server.stop(true) };
}
