// Versions that the previous release stored: they answer as before, are marked as outdated, and have successors that answer as
// this release does.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { seeded } from "../../src/decisions/calibration/metrics.ts";
import { LEGACY_REVISION } from "../../src/decisions/revision.ts";
import { decisionStore } from "../../src/store/decisions/decisions.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { runCommand } from "./command.ts";
import { believed, draw, startSimulated } from "./simulated.ts";
import { type Fake, type Gateway, startFake, startGateway, tempDir } from "./support.ts";

/** Rows as that release wrote them, with its hashes. */
const spec = (kind: string, provider: string, model: string) => {
  const routes = [{ provider, model, path: "", priority: 1, weight: 1 }];
  return { kind, routes, limits: {}, orders: 2, concurrency: 20 };
};
const NONE = { method: "none", buckets: {} };
const FITTED = {
  method: "fitted",
  buckets: { "choice:3-5": { temperature: 2, rows: 100, positions: { "4": [0.6, 0.2, -0.2, -0.6] } } },
};
const ROWS = [
  {
    ...{ id: "judge-1.0.0", origin: "judge-1.0.0", metrics: null },
    hash: "8ed929568bd0c113cce06b87de82860811b9ef10aa46fd44be884500b242699d",
    record: { spec: spec("logprobs", "sim", "sim-1"), calibration: NONE },
  },
  {
    ...{ id: "judge-1.1.0", origin: "judge-1.0.0", metrics: null },
    hash: "11f38499666c85196579f86bed0f1f0f5ed7358d46661f1086c720f8df2e4fd1",
    record: { spec: spec("logprobs", "sim", "sim-1"), calibration: FITTED },
  },
  {
    ...{ id: "native-1.0.0", origin: "native-1.0.0", metrics: null },
    hash: "17bf3af1b0ba2cb5fe10e3f3ff2332cf6bab3aae046a7c1fdb3614672fb8fd30",
    record: { spec: spec("systemone", "native", "jev-1.13.0"), calibration: NONE },
  },
];

const COLOURS = ["red", "green", "blue", "black"];
/** "None of these" has the same weight as a wrong option. */
const beliefs = (state: string, options: readonly string[]) =>
  options.map((option) =>
    COLOURS.includes(option)
      ? 1.5 * (seeded(Number(state.slice(4)) * 31 + COLOURS.indexOf(option) * 977)() * 2 - 1)
      : option === "option7"
        ? 6
        : 0,
  );
const MANY = {
  type: "choice",
  criteria: Object.fromEntries(Array.from({ length: 77 }, (_, at) => [`option${at}`, null])),
};
const TRUE_TOP = Math.exp(6) / (Math.exp(6) + 76);

let sim: Fake;
let native: Fake;
let gateway: Gateway;
let key: string;
const dir = tempDir();
const data = `${dir}-data`;

const config = () => ({
  data_dir: data,
  providers: {
    sim: { kind: "openai", base_url: sim.url, discover: false },
    native: { kind: "systemone", base_url: native.url },
  },
  decisions: {
    models: [
      {
        id: "judge-1.0.0",
        aliases: ["judge"],
        backend: { kind: "logprobs", routes: [{ provider: "sim", model: "sim-1" }] },
      },
      { id: "native-1.0.0", backend: { kind: "systemone", routes: [{ provider: "native", model: "jev-1.13.0" }] } },
      { id: "native-2.0.0", backend: { kind: "systemone", routes: [{ provider: "native", model: "jev-1.13.0" }] } },
    ],
  },
});

beforeAll(async () => {
  sim = startSimulated({ beliefs });
  const answer = sim.answer;
  sim.answer = (body, path) => (body === undefined ? Response.json({ data: [] }) : answer(body, path));
  native = startFake((body) => {
    if (body === undefined) return Response.json({ data: [] });
    const { questions } = body;
    const names = Object.keys(questions.q.criteria);
    const probabilities = Object.fromEntries(names.map((name, at) => [name, at === 0 ? 0.3 : 0]));
    return Response.json({ model: "jev-1.13.0", answers: { q: { type: "choice", probabilities } } });
  });
  const store = openStore({ dataDir: data });
  for (const row of ROWS) await decisionStore(store).addDecisionVersion(row);
  store.close();
  gateway = await startGateway(config(), dir);
  key = await gateway.key();
  const random = seeded(99);
  const lines = Array.from({ length: 200 }, (_, at) => {
    const state = `row ${at}`;
    const p = believed({ state, question: "", options: COLOURS, letters: true }, { beliefs }).map(Math.exp);
    const criteria = Object.fromEntries(COLOURS.map((name) => [name, null]));
    return JSON.stringify({ state, question: { type: "choice", criteria }, label: COLOURS[draw(p, random)] });
  });
  await Bun.write(join(dir, "rows.jsonl"), lines.join("\n"));
});

afterAll(async () => {
  await gateway.stop();
  sim.stop();
  native.stop();
  rmSync(data, { recursive: true, force: true });
});

const top = async (model: string, name: string, question: unknown = MANY): Promise<number> => {
  const { status, body } = await gateway.post(
    "/v1/systemone",
    { model, state: "row 1", questions: { q: question } },
    key,
  );
  expect(status, JSON.stringify(body)).toBe(200);
  return body.answers.q.probabilities[name];
};

test("an older version answers with the prompts and formulas with which it was stored, and the current ones belong to another version", async () => {
  expect(await top("judge", "option7")).toBeLessThan(TRUE_TOP - 0.05);
  const wide = {
    type: "choice",
    criteria: Object.fromEntries(Array.from({ length: 255 }, (_, at) => [`o${at}`, null])),
  };
  expect(await top("native-1.0.0", "o0", wide)).toBe(1);
  expect(await top("native-2.0.0", "o0", wide)).toBeCloseTo(0.3 + 0.7 / 255, 6);
});

test("an older version is marked in the list and by the doctor, but not reported as edited", async () => {
  const listed = JSON.parse((await runCommand(dir, ["decisions", "list", "--json"])).out) as {
    id: string;
    outdated: boolean;
  }[];
  const marked = Object.fromEntries(listed.map(({ id, outdated }) => [id, outdated]));
  expect(marked).toMatchObject({
    "judge-1.0.0": true,
    "judge-1.1.0": true,
    "native-1.0.0": true,
    "native-2.0.0": false,
  });
  const doctor = await runCommand(dir, ["doctor", "--json"]);
  const said = (
    JSON.parse(doctor.out) as { checks: { name: string; status: string; message: string }[] }
  ).checks.filter(({ name }) => name === "decisions");
  expect(said.map(({ status }) => status)).toEqual(["warning", "warning", "warning"]);
  for (const { message } of said) expect(message).toMatch(/outdated: .*calibrate --write/);
  const logs = gateway.logs.join("");
  expect(logs).toContain("is outdated");
  expect(logs).not.toContain("was changed under the same id");
  expect(logs).not.toContain("made by a release with other prompts");
});

test("calibrate --write creates its successor once, even if several run at the same time", async () => {
  const argv = ["calibrate", "--model", "judge", "--data", join(dir, "rows.jsonl"), "--write", "--json"];
  const runs = await Promise.all(Array.from({ length: 4 }, () => runCommand(dir, argv)));
  expect(runs.map(({ code }) => code).sort()).toEqual([0, 1, 1, 1]);
  for (const { code, err } of runs) if (code !== 0) expect(err).toMatch(/this version already exists: judge-1\.2\.0/);
  const store = openStore({ dataDir: data });
  const rows = await decisionStore(store).listDecisionVersions();
  store.close();
  const made = rows.filter(({ origin, id }) => origin === "judge-1.0.0" && !ROWS.some((row) => row.id === id));
  expect(made.map(({ id }) => id)).toEqual(["judge-1.2.0"]);
  expect((made[0]!.record["spec"] as { revision: number }).revision).toBeGreaterThan(LEGACY_REVISION);
  const listed = JSON.parse((await runCommand(dir, ["decisions", "list", "--json"])).out) as {
    id: string;
    outdated: boolean;
  }[];
  expect(listed.find(({ id }) => id === "judge-1.2.0")!.outdated).toBe(false);
  // The running gateway notices changes in the store by itself.
  const isThere = async () =>
    (await gateway.get("/v1/systemone/models", key)).body.data.some(({ id }: { id: string }) => id === "judge-1.2.0");
  while (!(await isThere())) await Bun.sleep(10);
  expect(await top("judge-1.2.0", "option7")).toBeCloseTo(TRUE_TOP, 2);
}, 60_000);
