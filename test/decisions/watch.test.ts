import { afterEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/load.ts";
import { decisionProvider } from "../../src/decisions/backends/calls.ts";
import { DecisionDiscovery, readModelList } from "../../src/decisions/models/discover.ts";
import { versionOfConfig, WITHOUT_CALIBRATION } from "../../src/decisions/models/versions.ts";
import { DecisionWatch } from "../../src/decisions/models/watch.ts";
import { openaiChat } from "../../src/upstream/dialects/openai-chat/dialect.ts";
import { type Habits, startSimulated } from "./simulated.ts";
import { type Fake, type Gateway, nativeAnswers, startFake, startGateway, tempDir } from "./support.ts";

const open: { stop(): void | Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(10);
}

async function engine(habits: Habits, health: Record<string, unknown> = { probe: "models" }): Promise<[Gateway, Fake]> {
  const fake = startSimulated(habits);
  open.push(fake);
  const gateway = await startGateway({
    health,
    providers: { sim: { kind: "openai", base_url: fake.url, discover: false } },
    decisions: {
      models: [{ id: "judge-1.0.0", backend: { kind: "logprobs", routes: [{ provider: "sim", model: "m" }] } }],
    },
  });
  open.push(gateway);
  return [gateway, fake];
}

const even = (_: string, options: readonly string[]) => options.map(() => 0);
const ids = async (gateway: Gateway, key: string): Promise<string[]> =>
  (await gateway.get("/v1/systemone/models", key)).body.data
    .map((model: { id: string }) => model.id)
    .filter((id: string) => id !== "demo-decide");

describe("the probe of an engine", () => {
  test("keeps a usable model in the list", async () => {
    const [gateway, fake] = await engine({ beliefs: even });
    await until(async () => fake.calls.length > 0);
    expect(fake.calls[0]!.body).toMatchObject({ max_tokens: 1, logprobs: true });
    expect(await ids(gateway, await gateway.key())).toEqual(["judge-1.0.0"]);
  });

  test("removes a model that answers with other tokens, and says why", async () => {
    const [gateway] = await engine({ beliefs: even, chatter: 0.3 });
    const key = await gateway.key();
    await until(async () => (await ids(gateway, key)).length === 0);
    const { body } = await gateway.get("/health");
    expect(body.status).toBe("ok");
    expect(body.subsystems.decisions.unfit[0].reason).toContain("70 % of the answer");
  });

  test("is not made if it is turned off", async () => {
    const [gateway, fake] = await engine({ beliefs: even }, { probe: "off" });
    await gateway.get("/health");
    expect(fake.calls).toHaveLength(0);
  });

  test("is turned on and off while the gateway runs", async () => {
    const fake = startSimulated({ beliefs: even, chatter: 0.3 });
    open.push(fake);
    const config = (probe: string) => ({
      health: { probe },
      providers: { sim: { kind: "openai", base_url: fake.url, discover: false } },
      decisions: {
        models: [{ id: "judge-1.0.0", backend: { kind: "logprobs", routes: [{ provider: "sim", model: "m" }] } }],
      },
    });
    const gateway = await startGateway(config("off"));
    open.push(gateway);
    const key = await gateway.key();
    expect(await ids(gateway, key)).toEqual(["judge-1.0.0"]);
    await gateway.reload(config("models"));
    await until(async () => (await ids(gateway, key)).length === 0);
    // Without probes, nothing would ever mark it as usable again.
    await gateway.reload(config("off"));
    await until(async () => (await ids(gateway, key)).length === 1);
    expect((await gateway.get("/health")).body.subsystems.decisions.unfit).toEqual([]);
  });

  test("an engine that refuses the format of the question is removed", async () => {
    const refusal = { error: { message: "logprobs are not supported with reasoning models. SECRET", code: "x" } };
    const fake = startFake(() => Response.json(refusal, { status: 400 }));
    open.push(fake);
    const gateway = await startGateway({
      health: { probe: "models" },
      providers: { sim: { kind: "openai", base_url: fake.url, discover: false } },
      decisions: {
        models: [{ id: "judge-1.0.0", backend: { kind: "logprobs", routes: [{ provider: "sim", model: "m" }] } }],
      },
    });
    open.push(gateway);
    const key = await gateway.key();
    await until(async () => (await ids(gateway, key)).length === 0);
    const { body } = await gateway.get("/health");
    expect(body.subsystems.decisions.unfit[0].reason).toContain("refuses");
    expect(JSON.stringify(body)).not.toContain("SECRET");
  });

  describe("of several routes of a version", () => {
    /** The first route answers with other tokens. The second one answers as the test defines. */
    async function two(second: Habits): Promise<{ gateway: Gateway; bad: Fake; good: Fake }> {
      const bad = startSimulated({ beliefs: even, chatter: 0.3 });
      const good = startSimulated(second);
      open.push(bad, good);
      const provider = (fake: Fake) => ({ kind: "openai", base_url: fake.url, discover: false });
      const backend = {
        kind: "logprobs",
        routes: [
          { provider: "bad", model: "m", priority: 1 },
          { provider: "good", model: "m", priority: 2 },
        ],
      };
      const gateway = await startGateway({
        health: { probe: "models" },
        providers: { bad: provider(bad), good: provider(good) },
        decisions: { models: [{ id: "judge-1.0.0", aliases: ["judge"], backend }] },
      });
      open.push(gateway);
      return { gateway, bad, good };
    }
    const health = async (gateway: Gateway) => (await gateway.get("/health")).body.subsystems.decisions;

    test("an unfit one is skipped, with its reason; the version stays", async () => {
      const { gateway, bad, good } = await two({ beliefs: even });
      await until(async () => (await health(gateway)).unfit_routes.length > 0);
      expect(await health(gateway)).toMatchObject({
        status: "degraded",
        unfit: [],
        unfit_routes: [{ model: "judge-1.0.0", provider: "bad", reason: expect.stringContaining("70 %") }],
      });
      const key = await gateway.key();
      expect(await ids(gateway, key)).toEqual(["judge-1.0.0", "judge"]);
      await until(async () => good.calls.length > 0);
      const before = bad.calls.length;
      const asked = { model: "judge", state: "s", questions: { q: { type: "noul", instructions: "?" } } };
      const { status, headers } = await gateway.post("/v1/systemone", asked, key);
      expect([status, headers.get("x-sallyport-route")]).toEqual([200, "good/m"]);
      expect(bad.calls.length).toBe(before);
    });

    test("the version is removed only if all are unfit", async () => {
      const { gateway } = await two({ beliefs: even, chatter: 0.5 });
      const key = await gateway.key();
      await until(async () => (await ids(gateway, key)).length === 0);
      const { unfit, unfit_routes } = await health(gateway);
      expect(unfit_routes).toEqual([]);
      expect(unfit).toEqual([{ model: "judge-1.0.0", reason: expect.stringMatching(/^bad: .*70 %.*; good: .*50 %/) }]);
    });
  });

  test("a bad answer that one caller's state causes does not count against the engine", async () => {
    const habits: Habits = { beliefs: even };
    const [gateway, fake] = await engine(habits);
    const key = await gateway.key();
    await until(async () => fake.calls.length > 0);
    const asked = { model: "judge-1.0.0", state: "s", questions: { q: { type: "noul", instructions: "?" } } };
    // The engine answers this question with other tokens, but the easy question correctly.
    let told = 0;
    const usual = fake.answer;
    fake.answer = (body, path) => {
      if (!body.messages.at(-1).content.includes("sky is blue")) habits.chatter = 0.8;
      else {
        delete habits.chatter;
        told += 1;
      }
      return usual(body, path);
    };
    expect((await gateway.post("/v1/systemone", asked, key)).status).toBe(503);
    // The engine is probed once more, however often such an answer occurs.
    await until(async () => told > 0);
    for (let again = 0; again < 3; again++) await gateway.post("/v1/systemone", asked, key);
    expect([told, await ids(gateway, key)]).toEqual([1, ["judge-1.0.0"]]);
  });
});

describe("the watch", () => {
  const version = versionOfConfig(
    {
      id: "judge-1.0.0",
      name: "",
      description: "",
      tier: "free",
      aliases: [],
      calibration: "",
      backend: {
        kind: "logprobs",
        routes: [{ provider: "p", model: "m", path: "", priority: 1, weight: 1 }],
        limits: {},
        orders: 2,
        concurrency: 8,
        minLabelMass: 0.5,
        prior: "none" as const,
      },
    },
    WITHOUT_CALIBRATION,
  );

  test("probes repeatedly: a model is removed, and returns when its engine answers with letters", async () => {
    let top: [string, number][] = [["Well", -0.01]];
    let asked = 0;
    const route = { provider: "p", model: "m", path: "", priority: 1, weight: 1 };
    const watch = new DecisionWatch({
      store: { noteSighting: async () => [], listSightings: async () => [] },
      versions: async () => [version],
      upstream: () => ({
        post: () => Promise.reject(new Error("no")),
        tokens: () => Promise.reject(new Error("no")),
        async chat(_request, read) {
          asked += 1;
          const tokens = top.map(([token, logprob]) => ({ token, logprob }));
          const block = { type: "text" as const, text: "A", logprobs: [{ ...tokens[0], top_logprobs: tokens }] };
          return read({ route, result: { choices: [{ index: 0, blocks: [block], reason: "stop" as const }] } });
        },
      }),
      clock: systemClock,
      warn: () => {},
      probeEveryMs: 5,
    });
    try {
      await watch.start();
      expect([asked, watch.isFit(version)]).toEqual([1, false]);
      expect((await watch.health()).unfit).toEqual([
        { model: "judge-1.0.0", reason: expect.stringContaining("letters") },
      ]);
      top = [
        ["A", Math.log(0.6)],
        ["B", Math.log(0.3995)],
      ];
      await until(async () => watch.isFit(version));
      // Below nine tenths of the probability, a probe marks the version as unfit again.
      top = [
        ["A", Math.log(0.5)],
        ["B", Math.log(0.39)],
      ];
      await until(async () => !watch.isFit(version));
    } finally {
      watch.stop();
    }
  });
});

describe("a provider's key is sufficient configuration", () => {
  /** TypeSafe has no list of its decision models. */
  const answersOf = (body: Parameters<typeof nativeAnswers>[0] | undefined) =>
    body === undefined ? Response.json({ detail: "Not Found" }, { status: 404 }) : nativeAnswers(body);

  test("what the provider lists is offered while the configuration names nothing", async () => {
    const fake = startFake((body, path) =>
      path === "/v1/models"
        ? Response.json({ models: [{ name: "jev-latest", description: "" }, { name: "jev-preview" }] })
        : answersOf(body),
    );
    open.push(fake);
    const gateway = await startGateway({
      providers: { native: { kind: "systemone", base_url: fake.url, api_key: "k" } },
    });
    open.push(gateway);
    const key = await gateway.key();
    await until(async () => (await ids(gateway, key)).length === 2);
    const asked = { model: "jev-latest", state: "s", questions: { q: { type: "noul", instructions: "?" } } };
    const { status, body } = await gateway.post("/v1/systemone", asked, key);
    // This name is an alias. The answer names the version that answered.
    expect([status, body.model]).toEqual([200, "jev-1.13.0"]);
    // If the answer names no version, the name in the list is used.
    fake.answer = async (asked) => Response.json({ ...((await answersOf(asked).json()) as object), model: "" });
    expect((await gateway.post("/v1/systemone", asked, key)).body.model).toBe("jev-latest");
    const chat = { model: "jev-latest", messages: [{ role: "user", content: "hi" }] };
    expect((await gateway.post("/v1/chat/completions", chat, key)).body.error.code).toBe("wrong_model_family");
  });

  test("the version that answered for an alias can be requested, after a restart too", async () => {
    const fake = startFake((body, path) =>
      path === "/v1/models" ? Response.json({ models: [{ name: "jev-latest" }] }) : answersOf(body),
    );
    open.push(fake);
    const data = tempDir();
    open.push({ stop: () => rmSync(data, { recursive: true, force: true }) });
    const start = async () => {
      const gateway = await startGateway({
        data_dir: data,
        providers: { native: { kind: "systemone", base_url: fake.url, api_key: "k" } },
      });
      const key = await gateway.key();
      await until(async () => (await ids(gateway, key)).length > 0);
      const ask = async (model: string) => {
        const asked = { model, state: "s", questions: { q: { type: "noul", instructions: "?" } } };
        const { status, body } = await gateway.post("/v1/systemone", asked, key);
        return [status, body.model];
      };
      return { gateway, key, ask };
    };
    const first = await start();
    expect((await first.ask("jev-1.13.0"))[0]).toBe(404);
    expect(await first.ask("jev-latest")).toEqual([200, "jev-1.13.0"]);
    expect(await first.ask("jev-1.13.0")).toEqual([200, "jev-1.13.0"]);
    expect(fake.calls.at(-1)!.body.model).toBe("jev-1.13.0");
    expect(await ids(first.gateway, first.key)).toEqual(["jev-latest", "jev-1.13.0"]);
    await first.gateway.stop();
    const again = await start();
    open.push(again.gateway);
    expect(await again.ask("jev-1.13.0")).toEqual([200, "jev-1.13.0"]);
  });

  test.each<[unknown, string[]]>([
    [{ models: [{ name: "a" }, { name: "a" }, { name: "" }] }, ["a"]],
    [{ object: "list", data: [{ id: "a", type: "systemone" }, { id: "b" }] }, ["a", "b"]],
    [
      {
        data: [
          { id: "chatty", architecture: { output_modalities: ["text"] } },
          { id: "painter", output_modalities: ["image"] },
          { id: "judge", architecture: { output_modalities: ["decisions"] } },
        ],
      },
      ["judge"],
    ],
    [
      ["a", "b", 3],
      ["a", "b"],
    ],
    // One server has two lists of the same models. Only the second one states the kind of each model.
    [
      {
        models: [{ name: "chatty" }, { name: "judge" }],
        data: [
          { id: "chatty", architecture: { output_modalities: ["text"] } },
          { id: "judge", architecture: { output_modalities: ["decisions"] } },
        ],
      },
      ["judge"],
    ],
    // The form of an empty list in programs written in Go.
    [{ models: null, data: [{ id: "judge" }] }, ["judge"]],
  ])("the list %p is read", (body, names) => {
    expect(readModelList(body)).toEqual(names);
  });

  test("a late list does not overwrite newer changes", async () => {
    const held = Promise.withResolvers<void>();
    const came = Promise.withResolvers<void>();
    let name = "old";
    const fake = startFake(async () => {
      const models = [{ name }];
      if (name === "old") {
        came.resolve();
        await held.promise;
      }
      return Response.json({ models });
    });
    open.push(fake);
    const cwd = tempDir();
    open.push({ stop: () => rmSync(cwd, { recursive: true, force: true }) });
    const file = { providers: { native: { kind: "systemone", base_url: fake.url } } };
    await Bun.write(join(cwd, "sallyport.yaml"), JSON.stringify(file));
    const loaded = loadConfig({ cwd, env: {} });
    if (!loaded.ok) throw new Error(loaded.problems.join("\n"));
    const provider = decisionProvider(loaded.config.providers[0]!, openaiChat)!;
    const discovery = new DecisionDiscovery({
      providers: () => [{ provider, tier: "free" }],
      now: () => 0,
      changed() {},
      failed() {},
    });
    const slow = discovery.refresh();
    await came.promise;
    name = "new";
    await discovery.refresh();
    held.resolve();
    await slow;
    expect(discovery.models().map(({ model }) => model)).toEqual(["new"]);
  });

  test("a server that has only a list of decision models is asked for that", async () => {
    const fake = startFake((_, path) =>
      path === "/v1/systemone/models"
        ? Response.json({ object: "list", data: [{ id: "judge", type: "systemone" }] })
        : Response.json({ object: "list", data: [{ id: "chatty" }] }),
    );
    open.push(fake);
    const gateway = await startGateway({ providers: { router: { kind: "systemone", base_url: fake.url } } });
    open.push(gateway);
    const key = await gateway.key();
    await until(async () => (await ids(gateway, key)).length > 0);
    expect(await ids(gateway, key)).toEqual(["judge"]);
  });

  test.each([[{}], ["x"], [{ data: "x" }], [{ models: [], data: "x" }], [null]])("%p is not a list", (body) => {
    expect(() => readModelList(body)).toThrow();
  });
});
