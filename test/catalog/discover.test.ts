import { expect, test } from "bun:test";
import { createDiscovery } from "../../src/catalog/discover.ts";
import type { DiscoveredModel } from "../../src/vendors/vendor.ts";

type Answer = () => Promise<DiscoveredModel[]>;

const ids = (...names: string[]): Answer => {
  return () => Promise.resolve(names.map((id) => ({ id })));
};
const down: Answer = () => Promise.reject(new Error("refused"));

function world(answers: Record<string, Answer>) {
  const state = { answers, keys: Object.keys(answers), calls: 0, changes: [] as Record<string, string[]>[] };
  const failures: string[] = [];
  const discovery = createDiscovery(
    {
      providers: () => state.keys.map((key) => ({ key })),
      listModels: ({ key }) => {
        state.calls++;
        return state.answers[key]!();
      },
      changed: (lists) => {
        state.changes.push(Object.fromEntries([...lists].map(([key, list]) => [key, list.map((model) => model.id)])));
      },
      failed: (key, _cause, kept) => failures.push(`${key}:${kept}`),
    },
    { timeoutMs: 50 },
  );
  return { state, discovery, failures };
}

test("a provider that is down keeps its last list; one that leaves the config loses it", async () => {
  const { state, discovery, failures } = world({ a: ids("x"), b: down });
  await discovery.start();
  state.answers["a"] = down;
  state.answers["b"] = ids("y");
  await discovery.refresh();
  state.answers["b"] = ids();
  await discovery.refresh();
  state.keys = ["b"];
  await discovery.refresh();
  discovery.stop();
  expect(state.changes).toEqual([{ a: ["x"] }, { a: ["x"], b: ["y"] }, { a: ["x"], b: [] }, { b: [] }]);
  expect(failures).toEqual(["b:0", "a:1", "a:1"]);
});

test("offers: by the last answer, a failure is a no", async () => {
  const { state, discovery } = world({ a: ids("X") });
  const said = () => ["x", "X", "y"].map((model) => discovery.offers("a", model));
  expect(said()).toEqual([undefined, undefined, undefined]);
  await discovery.start();
  expect(said()).toEqual([true, true, false]);
  state.answers["a"] = down;
  await discovery.refresh();
  expect(said()).toEqual([false, false, false]);
  state.keys = [];
  await discovery.refresh();
  discovery.stop();
  expect(said()).toEqual([undefined, undefined, undefined]);
});

test("a discovery without changes does not rebuild the catalog", async () => {
  const { state, discovery } = world({ a: ids("x") });
  await discovery.start();
  await discovery.refresh();
  discovery.stop();
  expect(state.calls).toBe(2);
  expect(state.changes).toHaveLength(1);
});

test("a provider that never answers and ignores the abort signal delays discovery by no more than the timeout", async () => {
  const { state, discovery, failures } = world({ a: () => new Promise(() => {}), b: ids("y") });
  await discovery.start();
  discovery.stop();
  expect(state.changes).toEqual([{ b: ["y"] }]);
  expect(failures).toEqual(["a:0"]);
});

test("rounds never overlap; a refresh during one brings exactly one more", async () => {
  let open = 0;
  let most = 0;
  const gate = Promise.withResolvers<void>();
  const { state, discovery } = world({
    a: async () => {
      most = Math.max(most, ++open);
      await gate.promise;
      open--;
      return [];
    },
  });
  const first = discovery.start();
  const more = [discovery.refresh(), discovery.refresh(), discovery.refresh()];
  gate.resolve();
  await Promise.all([first, ...more]);
  discovery.stop();
  expect([most, state.calls]).toEqual([1, 2]);
});

test("nonsense and repeats are left out, and lists are bounded", async () => {
  const many = Array.from({ length: 6000 }, (_, at) => `m${at}`);
  const { state, discovery } = world({
    a: async () => [...(await ids("", "x", "x", "y".repeat(300))()), { id: "film", kind: "other" as const }],
    b: ids(...many),
  });
  await discovery.start();
  discovery.stop();
  expect(state.changes[0]?.["a"]).toEqual(["x"]);
  expect(state.changes[0]?.["b"]).toHaveLength(5000);
});

test("after stop nothing is announced", async () => {
  const gate = Promise.withResolvers<DiscoveredModel[]>();
  const { state, discovery, failures } = world({ a: () => gate.promise });
  const done = discovery.start();
  discovery.stop();
  gate.resolve([{ id: "x" }]);
  await done;
  expect([state.changes, failures]).toEqual([[], []]);
});
