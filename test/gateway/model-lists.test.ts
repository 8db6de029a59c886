import { expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { createModelLists, type ModelListsDeps } from "../../src/gateway/model-lists.ts";
import { configureProvider } from "../../src/upstream/configure.ts";

/** Lists of a provider whose models are not offered from its list. */
function unoffered(server: ReturnType<typeof Bun.serve>, health: { probe: string; intervalMs: number }) {
  const entry = {
    name: "up",
    kind: "openai",
    baseUrl: `${server.url}v1`,
    apiKeys: ["k"],
    discover: false,
    headers: {},
    timeoutMs: { connect: 5000, firstByte: 5000, idle: 5000 },
    retry: { attempts: 1, baseMs: 1, maxMs: 1 },
  };
  const config = { health, providers: [entry] };
  const provider = configureProvider(entry as unknown as Parameters<typeof configureProvider>[0]);
  return createModelLists(
    {
      config: () => config as unknown as ReturnType<ModelListsDeps["config"]>,
      clock: systemClock,
      discoveryFailed: () => undefined,
      watches: true,
    },
    { provider: () => provider, isUsed: () => true, changed: () => undefined, turned: () => undefined },
  );
}

test("while a server without a list is asked again, its models do not count as down", async () => {
  const again = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch() {
      if (++asked === 2) {
        again.resolve();
        await release.promise;
      }
      return new Response("{}", { status: 404 });
    },
  });
  const lists = unoffered(server, { probe: "models", intervalMs: 1 });
  try {
    await lists.start();
    await again.promise;
    expect(lists.listed("up", "x")).toBeUndefined();
  } finally {
    release.resolve();
    lists.stop();
    await server.stop(true);
  }
});

test("a changed interval applies at once to a server whose models are not offered from its list", async () => {
  const asked = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      asked.resolve();
      return new Response("{}", { status: 404 });
    },
  });
  const health = { probe: "models", intervalMs: 3_600_000 };
  const lists = unoffered(server, health);
  try {
    await lists.start();
    health.intervalMs = 1;
    await lists.refresh();
    await asked.promise;
  } finally {
    lists.stop();
    await server.stop(true);
  }
});
