// The least that a gateway on this runtime can do: it forwards bytes without reading them. The gateway's cost is given
// relative to it, so that figures from different machines can be compared. Usage: passthrough.ts UPSTREAM; prints its
// port.

const [upstream = ""] = process.argv.slice(2);

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const answer = await fetch(upstream, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: await request.text(),
    });
    const type = answer.headers.get("content-type") ?? "application/json";
    return new Response(answer.body, { status: answer.status, headers: { "content-type": type } });
  },
});
process.stdout.write(`${server.port}\n`);

export {};
