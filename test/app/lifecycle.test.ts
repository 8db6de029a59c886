import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { createLifecycle, type Service } from "../../src/app/lifecycle.ts";

/** A lifecycle with these services. It records what is called, and what failed. */
function program(services: Record<string, Service>) {
  const seen: string[] = [];
  const failures: string[] = [];
  const lifecycle = createLifecycle((service, step, error) =>
    failures.push(`${service} ${step}: ${(error as Error).message}`),
  );
  for (const [name, own] of Object.entries(services)) {
    lifecycle.add(name, {
      start: async () => {
        seen.push(`start ${name}`);
        await own.start?.();
      },
      reconfigure: () => {
        seen.push(`reconfigure ${name}`);
        return own.reconfigure?.();
      },
      stop: async (drainMs) => {
        seen.push(`stop ${name} ${drainMs}`);
        await own.stop?.(drainMs);
      },
    });
  }
  return { lifecycle, seen, failures };
}

const fails = (message: string) => () => {
  throw new Error(message);
};

test("services start and are reconfigured in the order they were added, and stop in reverse", async () => {
  const { lifecycle, seen } = program({ store: {}, web: {}, edge: {} });
  await lifecycle.start();
  lifecycle.reconfigure();
  await lifecycle.stop(7);
  expect(seen).toEqual([
    ...["start store", "start web", "start edge"],
    ...["reconfigure store", "reconfigure web", "reconfigure edge"],
    ...["stop edge 7", "stop web 7", "stop store 7"],
  ]);
});

test("each has started before the next one is", async () => {
  const started = Promise.withResolvers<void>();
  const { lifecycle, seen } = program({ store: { start: () => started.promise }, edge: {} });
  const all = lifecycle.start();
  expect(seen).toEqual(["start store"]);
  started.resolve();
  await all;
  expect(seen).toEqual(["start store", "start edge"]);
});

test("a start that fails stops what had started, in reverse, and nothing else", async () => {
  const { lifecycle, seen, failures } = program({
    store: {},
    web: { stop: fails("hangs") },
    edge: { start: fails("the address is taken") },
    late: {},
  });
  await expect(lifecycle.start()).rejects.toThrow("the address is taken");
  expect(seen).toEqual(["start store", "start web", "start edge", "stop web 0", "stop store 0"]);
  expect(failures).toEqual(["web stop: hangs"]);
});

test("what needs no start has started as soon as it is added", async () => {
  const { lifecycle } = program({});
  const stopped: string[] = [];
  lifecycle.add("lock", { stop: () => void stopped.push("lock") });
  lifecycle.add("timer", { start() {}, stop: () => void stopped.push("timer") });
  await lifecycle.stop(0);
  expect(stopped).toEqual(["lock"]);
});

test("stopping continues when a service fails, and reports each failure", async () => {
  const { lifecycle, seen, failures } = program({
    store: { stop: fails("busy") },
    web: {},
    edge: { stop: async () => fails("stuck")() },
  });
  await lifecycle.start();
  await lifecycle.stop(5);
  expect(seen.slice(3)).toEqual(["stop edge 5", "stop web 5", "stop store 5"]);
  expect(failures).toEqual(["edge stop: stuck", "store stop: busy"]);
});

test("a second stop does nothing", async () => {
  const { lifecycle, seen } = program({ store: {} });
  await lifecycle.start();
  await lifecycle.stop(5);
  await lifecycle.stop(5);
  expect(seen).toEqual(["start store", "stop store 5"]);
});

test("a configuration that one cannot take reaches the others, at once", async () => {
  const { lifecycle, seen, failures } = program({
    keys: { reconfigure: () => Promise.reject(new Error("no entropy")) },
    web: { reconfigure: fails("no such engine") },
    edge: {},
  });
  await lifecycle.start();
  lifecycle.reconfigure();
  expect(seen.slice(3)).toEqual(["reconfigure keys", "reconfigure web", "reconfigure edge"]);
  await Promise.resolve();
  expect(failures.toSorted()).toEqual(["keys reconfigure: no entropy", "web reconfigure: no such engine"]);
});

test("services may lack any member, and their routes are those that there are", async () => {
  const { lifecycle } = program({});
  const pages = new Elysia().get("/page", () => "page");
  lifecycle.add("nothing", {});
  expect(lifecycle.add("pages", { routes: pages }).routes).toBe(pages);
  await lifecycle.start();
  lifecycle.reconfigure();
  await lifecycle.stop(0);
  expect(lifecycle.routes()).toEqual([pages]);
});

test("work for which no answer waits begins when all have started, and one that fails does not delay the others", async () => {
  const { lifecycle, seen, failures } = program({});
  const begun = Promise.withResolvers<void>();
  lifecycle.add("alerts", { background: () => Promise.reject(new Error("no database")) });
  lifecycle.add("mail", { background: fails("no server") });
  lifecycle.add("jobs", {
    background() {
      seen.push("begin jobs");
      begun.resolve();
    },
  });
  lifecycle.add("edge", { start: () => void seen.push("start edge") });
  await lifecycle.start();
  expect(seen).toEqual(["start edge"]);
  await begun.promise;
  expect(seen).toEqual(["start edge", "begin jobs"]);
  expect(failures.toSorted()).toEqual(["alerts begin its work: no database", "mail begin its work: no server"]);
  await lifecycle.stop(0);
});

test("a program that stops before does not begin it", async () => {
  const { lifecycle } = program({});
  let isBegun = false;
  lifecycle.add("jobs", {
    background() {
      isBegun = true;
    },
  });
  await lifecycle.start();
  await lifecycle.stop(0);
  const later = program({}).lifecycle;
  const reached = Promise.withResolvers<void>();
  later.add("later", { background: () => reached.resolve() });
  await later.start();
  await reached.promise;
  expect(isBegun).toBe(false);
  await later.stop(0);
});
