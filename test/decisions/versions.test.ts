import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { readCalibrationFile } from "../../src/decisions/calibration/file.ts";
import { readMeasurement } from "../../src/decisions/calibration/measurement.ts";
import { seeded } from "../../src/decisions/calibration/metrics.ts";
import { WITHOUT_CALIBRATION as NONE, nextVersionId, versionOfConfig } from "../../src/decisions/models/versions.ts";
import { decisionStore } from "../../src/store/decisions/decisions.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { runCommand } from "./command.ts";
import { believed, draw, startSimulated } from "./simulated.ts";
import { type Fake, type Gateway, nativeAnswers, startFake, startGateway, tempDir } from "./support.ts";

/** The model is overconfident and prefers the first letters. */
const habits = {
  beliefs: (state: string, options: readonly string[]) => options.map((option) => worth(state, option)),
  sharpness: 2.5,
  gains: [0.6, 0.2, -0.2, -0.6],
};
const COLOURS = ["red", "green", "blue", "black"];

function worth(state: string, option: string): number {
  return 1.5 * (seeded(Number(state.slice(4)) * 31 + Math.max(0, COLOURS.indexOf(option)) * 977)() * 2 - 1);
}

/** Rows whose labels are drawn from the model's beliefs without its biases. */
function dataFile(rows: number): string {
  const random = seeded(99);
  const criteria = Object.fromEntries(COLOURS.map((name) => [name, null]));
  return Array.from({ length: rows }, (_, i) => {
    const state = `row ${i}`;
    const shown = { state, question: "", options: COLOURS, letters: true };
    const p = believed(shown, { beliefs: habits.beliefs }).map(Math.exp);
    return JSON.stringify({ state, question: { type: "choice", criteria }, label: COLOURS[draw(p, random)] });
  }).join("\n");
}

let model: Fake;
let native: Fake;
let gateway: Gateway;
let key: string;
const dir = tempDir();

beforeAll(async () => {
  model = startSimulated(habits);
  native = startFake(nativeAnswers);
  gateway = await startGateway(
    {
      providers: {
        sim: { kind: "openai", base_url: model.url, discover: false },
        native: { kind: "systemone", base_url: native.url },
      },
      decisions: {
        models: [
          {
            id: "judge-1.0.0",
            aliases: ["judge-latest"],
            backend: { kind: "logprobs", prior: "none", routes: [{ provider: "sim", model: "sim-1" }] },
          },
          { id: "free-1.0.0", backend: { kind: "logprobs", routes: [{ provider: "sim", model: "sim-1" }] } },
          { id: "pinned-1.0.0", backend: { kind: "systemone", routes: [{ provider: "native", model: "jev-1.13.0" }] } },
        ],
      },
    },
    dir,
  );
  key = await gateway.key();
  await Bun.write(join(dir, "rows.jsonl"), dataFile(400));
});

afterAll(async () => {
  await gateway.stop();
  model.stop();
  native.stop();
});

const asked = (model: string) => ({
  model,
  state: "row 7",
  questions: { q: { type: "choice", criteria: { red: null, green: null, blue: null, black: null } } },
});

/** The answer of a name, as soon as the running server has noticed the change and this version answers. */
async function answerOf(name: string, version: string) {
  for (;;) {
    const answer = await gateway.post("/v1/systemone", asked(name), key);
    if (answer.body.model === version) return answer;
    await Bun.sleep(10);
  }
}

test("calibrate creates a new version, promote moves the alias, and a running server follows", async () => {
  const run = await runCommand(dir, [
    "calibrate",
    "--model",
    "judge-latest",
    "--data",
    join(dir, "rows.jsonl"),
    "--write",
    "--json",
  ]);
  expect(run.err).toBe("");
  expect(run.code).toBe(0);
  const report = JSON.parse(run.out);
  expect(report.written).toBe("judge-1.1.0");
  const { before, after } = report.reports[0];
  expect(after.logLoss).toBeLessThan(before.logLoss);
  expect(after.ece).toBeLessThan(before.ece);
  expect(Math.abs(report.calibration.buckets["choice:3-5"].temperature - 2.5)).toBeLessThan(0.6);

  // Before the promotion the alias still leads to the first version, and the new one answers under its own id.
  const fresh = await answerOf("judge-1.1.0", "judge-1.1.0");
  const old = await gateway.post("/v1/systemone", asked("judge-latest"), key);
  expect(old.body.model).toBe("judge-1.0.0");
  expect(fresh.body.answers.q.confidence).toBeLessThan(old.body.answers.q.confidence);

  const promoted = await runCommand(dir, ["decisions", "promote", "judge-1.1.0", "judge-latest", "--json"]);
  expect(JSON.parse(promoted.out)).toEqual({ alias: "judge-latest", version: "judge-1.1.0", before: "judge-1.0.0" });
  await answerOf("judge-latest", "judge-1.1.0");
  const pinned = await gateway.post("/v1/systemone", asked("judge-1.0.0"), key);
  expect(pinned.body.answers).toEqual(old.body.answers);

  const listed = await runCommand(dir, ["decisions", "list", "--json"]);
  const rows = JSON.parse(listed.out) as { id: string; aliases: string; calibration: string }[];
  expect(rows.find((row) => row.id === "judge-1.1.0")).toMatchObject({
    aliases: "judge-latest",
    calibration: "fitted",
  });
  expect(rows.find((row) => row.id === "judge-1.0.0")).toMatchObject({ aliases: "", calibration: "none" });

  const stored = (await storedVersions()).find(({ id }) => id === "judge-1.1.0")!;
  const { dataset, from, reports } = readMeasurement(stored.metrics)!;
  expect({ from, rows: dataset?.rows, reports }).toEqual({ from: "judge-1.0.0", rows: 400, reports: report.reports });
  expect(dataset).toEqual(report.dataset);
});

test("a report for people, a file and a picture", async () => {
  const out = join(dir, "calibration.json");
  const svg = join(dir, "reliability.svg");
  const data = join(dir, "rows.jsonl");
  const run = await runCommand(dir, [
    "calibrate",
    "--model",
    "judge-1.0.0",
    "--data",
    data,
    "--out",
    out,
    "--svg",
    svg,
  ]);
  expect(run.code).toBe(0);
  for (const word of ["accuracy", "majority rate", "log-loss", "Brier", "ECE", "% said"])
    expect(run.out).toContain(word);
  expect(await Bun.file(svg).text()).toStartWith("<svg");
  const file = await Bun.file(out).json();
  expect([file.method, file.prior]).toEqual(["fitted", undefined]);
});

test("a file says with which prior its rows were read", async () => {
  const out = join(dir, "with-prior.json");
  const run = await runCommand(dir, [
    "calibrate",
    "--model",
    "free-1.0.0",
    "--data",
    join(dir, "rows.jsonl"),
    "--out",
    out,
  ]);
  expect([run.code, run.err]).toEqual([0, ""]);
  expect(await readCalibrationFile(out)).toMatchObject({ method: "fitted", prior: "content_free" });
});

async function addVersion(version: Awaited<ReturnType<typeof storedVersions>>[number]) {
  const store = openStore({ dataDir: join(dir, "data") });
  try {
    await decisionStore(store).addDecisionVersion(version);
  } finally {
    store.close();
  }
}

async function storedVersions() {
  const store = openStore({ dataDir: join(dir, "data") });
  try {
    return await decisionStore(store).listDecisionVersions();
  } finally {
    store.close();
  }
}

test("a version that is worse on held-out rows is not promoted unless forced", async () => {
  const store = openStore({ dataDir: join(dir, "data") });
  const verbs = decisionStore(store);
  const row = (await verbs.listDecisionVersions()).find(({ id }) => id === "judge-1.0.0")!;
  const metrics = { before: { logLoss: 0.5 }, after: { logLoss: 0.6 } };
  store.close();
  await addVersion({ ...row, id: "judge-1.9.0", metrics });
  const refused = await runCommand(dir, ["decisions", "promote", "judge-1.9.0", "judge-latest"]);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("worse on rows it was not fitted on")]);
  expect((await runCommand(dir, ["decisions", "promote", "judge-1.9.0", "judge-latest", "--force"])).code).toBe(0);
  // On the same rows, the version is better than the one that it was made from, but worse than the one that has the alias.
  const figures = { rows: 9, accuracy: 1, majority: 1, brier: 0, ece: 0 };
  const measured = (was: number, is: number) => {
    const dataset = { sha256: "d", rows: 9 };
    return { before: { ...figures, logLoss: was }, after: { ...figures, logLoss: is }, dataset };
  };
  await addVersion({ ...row, id: "judge-1.10.0", metrics: measured(0.5, 0.3) });
  await addVersion({ ...row, id: "judge-1.11.0", metrics: measured(0.5, 0.4) });
  expect((await runCommand(dir, ["decisions", "promote", "judge-1.10.0", "judge-latest"])).code).toBe(0);
  const worse = await runCommand(dir, ["decisions", "promote", "judge-1.11.0", "judge-latest"]);
  expect([worse.code, worse.err]).toEqual([1, expect.stringContaining("0.4000 instead of 0.3000 of judge-1.10.0")]);
});

test.each([
  [["calibrate", "--data", "x.jsonl"], 2, "--model is required"],
  [["calibrate", "--model", "judge-1.0.0", "--data", "nowhere.jsonl"], 1, "there is no file"],
  [["calibrate", "--model", "nope", "--data", "ROWS"], 1, "there is no decision model"],
  [["calibrate", "--model", "judge-1.0.0", "--data", "BAD"], 1, "line 2"],
  [["calibrate", "--model", "judge-1.0.0", "--data", "FEW"], 1, "too few"],
  [["calibrate", "--model", "judge-1.0.0", "--data", "ROWS", "--write", "--as", "two words"], 1, "an id has"],
  [["calibrate", "--model", "judge-1.0.0", "--data", "SAME", "--write"], 1, "rows have the same answer"],
  [["decisions", "promote", "nope", "judge-latest"], 1, "there is no version"],
  [["decisions", "promote", "judge-1.0.0", "pinned-1.0.0"], 1, "is a version, not an alias"],
])("%p: exit %d", async (args, code, message) => {
  const row = dataFile(1);
  await Bun.write(
    join(dir, "BAD"),
    `${row}\n{"state":"s","question":{"type":"noul","instructions":"?"},"label":"maybe"}`,
  );
  await Bun.write(join(dir, "FEW"), row);
  const same = (line: string) => JSON.stringify({ ...JSON.parse(line), label: "red" });
  await Bun.write(join(dir, "SAME"), dataFile(120).split("\n").map(same).join("\n"));
  const files: Record<string, string> = { ROWS: join(dir, "rows.jsonl") };
  for (const name of ["BAD", "FEW", "SAME"]) files[name] = join(dir, name);
  const run = await runCommand(
    dir,
    args.map((arg) => files[arg] ?? arg),
  );
  expect(run.code).toBe(code);
  expect(run.err).toContain(message);
  expect(run.err.trim().split("\n")).toHaveLength(1);
});

test("a call keeps the version with which it began if its alias is moved meanwhile", async () => {
  await runCommand(dir, ["decisions", "promote", "judge-1.0.0", "moving"]);
  await answerOf("moving", "judge-1.0.0");
  const [came, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const usual = model.answer;
  model.answer = async (body, path) => {
    came.resolve();
    await go.promise;
    return usual(body, path);
  };
  const under = gateway.post("/v1/systemone", asked("moving"), key);
  await came.promise;
  await runCommand(dir, ["decisions", "promote", "judge-1.10.0", "moving", "--force"]);
  go.resolve();
  expect((await under).body.model).toBe("judge-1.0.0");
  model.answer = usual;
  await answerOf("moving", "judge-1.10.0");
});

test("a model from a provider's list must be configured before it can be calibrated", async () => {
  const own = tempDir();
  await Bun.write(join(own, "sallyport.yaml"), "data_dir: ./data");
  const run = await runCommand(own, ["calibrate", "--model", "jev-latest", "--data", join(dir, "rows.jsonl")]);
  expect([run.code, run.err]).toEqual([1, expect.stringContaining("name it in decisions.models first")]);
  rmSync(own, { recursive: true, force: true });
});

test("an upstream that answers with another version is reported, and its answer is not passed on", async () => {
  const question = { model: "pinned-1.0.0", state: "s", questions: { q: { type: "noul", instructions: "?" } } };
  const health = async () => (await gateway.get("/health")).body.subsystems.decisions;
  expect((await gateway.post("/v1/systemone", question, key)).status).toBe(200);
  expect((await health()).drifted).toEqual([]);
  const usual = native.answer;
  native.answer = async (body) => Response.json({ ...(await nativeAnswers(body).json()), model: "jev-1.14.0" });
  const drifted = await gateway.post("/v1/systemone", question, key);
  native.answer = usual;
  expect([drifted.status, drifted.body.error.code]).toEqual([503, "decision_unavailable"]);
  while ((await health()).drifted.length === 0) await Bun.sleep(10);
  expect(await health()).toMatchObject({ status: "degraded", drifted: ["pinned-1.0.0"] });
  expect(gateway.logs.join("")).toContain("reports another name than before");
});

test("a stored version that was calibrated with other prompts is reported", async () => {
  const own = tempDir();
  const model = {
    id: "p-1.0.0",
    backend: { kind: "logprobs", prior: "none", routes: [{ provider: "sim", model: "sim-1" }] },
  };
  const config = {
    providers: { sim: { kind: "openai", base_url: "http://127.0.0.1:9/v1", discover: false } },
    decisions: { models: [model] },
  };
  const data = `${own}-data`;
  const first = await startGateway({ ...config, data_dir: data }, own);
  await first.stop();
  const store = openStore({ dataDir: data });
  const [row] = await decisionStore(store).listDecisionVersions();
  await decisionStore(store).addDecisionVersion({ ...row!, id: "p-1.1.0" });
  await decisionStore(store).addDecisionVersion({ ...row!, id: "p-1.2.0", hash: "of-other-prompts" });
  store.close();
  const again = await startGateway({ ...config, data_dir: data }, tempDir());
  const said = again.logs.join("");
  expect(said).toContain("p-1.2.0");
  expect(said).toContain("Calibrate it again");
  expect(said).not.toContain("p-1.1.0");
  await again.stop();
  rmSync(data, { recursive: true, force: true });
});

test("an entry that is edited under its old id answers as before", async () => {
  const own = tempDir();
  const config = (model: string) => ({
    providers: { native: { kind: "systemone", base_url: native.url } },
    decisions: {
      models: [
        { id: "p-1.0.0", aliases: ["p"], backend: { kind: "systemone", routes: [{ provider: "native", model }] } },
      ],
    },
  });
  const copy = `${own}-data`;
  const first = await startGateway({ ...config("jev-1.13.0"), data_dir: copy }, own);
  await first.stop();
  const again = await startGateway({ ...config("jev-2.0.0"), data_dir: copy }, tempDir());
  native.calls.length = 0;
  const question = { model: "p", state: "s", questions: { q: { type: "noul", instructions: "?" } } };
  expect((await again.post("/v1/systemone", question, await again.key())).status).toBe(200);
  expect(native.calls[0]!.body.model).toBe("jev-1.13.0");
  expect(again.logs.join("")).toContain("was changed under the same id");
  await again.stop();
  rmSync(copy, { recursive: true, force: true });
});

test.each([
  ["logprobs" as const, true],
  ["systemone" as const, false],
])("limits are part of a %s version: %p", (kind, part) => {
  const hashWith = (limits: Record<string, number>) => {
    const routes = [{ provider: "p", model: "m", path: "", priority: 1, weight: 1 }];
    const backend = { kind, routes, limits, orders: 2, concurrency: 8, minLabelMass: 0.5, prior: "none" as const };
    const entry = {
      id: "x-1.0.0",
      name: "",
      description: "",
      tier: "free" as const,
      aliases: [],
      calibration: "",
      backend,
    };
    return versionOfConfig(entry, NONE).hash;
  };
  expect(hashWith({ chosen_tokens: 128 }) !== hashWith({})).toBe(part);
  expect(hashWith({ chosen_tokens: 128 }) !== hashWith({ chosen_tokens: 64 })).toBe(part);
});

test.each([
  ["x-1.2.3", ["x-1.2.3"], "x-1.3.0"],
  ["x-1.2.3", ["x-1.3.0", "x-1.4.0"], "x-1.5.0"],
  ["judge", [], "judge-1.0.0"],
  ["judge", ["judge-1.0.0"], "judge-1.1.0"],
])("after %s, with %p already used, follows %s", (id, taken, next) => {
  expect(nextVersionId(id, new Set(taken))).toBe(next);
});
