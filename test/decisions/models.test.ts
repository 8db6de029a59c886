// The list of models alone: what names resolve to, and the effect of outdated or failed reads.

import { expect, test } from "bun:test";
import { ApiError } from "../../src/base/errors.ts";
import type { BackendSpec } from "../../src/decisions/backends/backend.ts";
import { type Calibration, UNCALIBRATED } from "../../src/decisions/calibration/calibration.ts";
import { DecisionModels, type DecisionModelsDeps } from "../../src/decisions/models/models.ts";
import { type DecisionModelConfig, recalibrated, rowOf, versionOfConfig } from "../../src/decisions/models/versions.ts";
import type { StoredVersion } from "../../src/store/decisions/decisions.ts";

const entry = (id: string, aliases: string[] = []): DecisionModelConfig => ({
  id,
  name: "",
  description: "",
  tier: "free",
  aliases,
  calibration: "",
  backend: {
    kind: "systemone",
    routes: [{ provider: "p", model: "m", path: "", priority: 1, weight: 1 }],
    limits: {},
    orders: 2,
    concurrency: 8,
    minLabelMass: 0.5,
    prior: "none" as const,
  },
});

/** Models that use rows in memory. */
function setUp(configured: DecisionModelConfig[], more: Partial<DecisionModelsDeps> = {}) {
  const rows: StoredVersion[] = [];
  const aliases = new Map<string, string>();
  const problems: string[] = [];
  const at = { nowMs: 0, writes: 0 };
  const deps: DecisionModelsDeps = {
    configured: () => configured,
    readCalibrationFile: async () => UNCALIBRATED,
    store: {
      listDecisionVersions: async () => [...rows],
      async addDecisionVersion(version) {
        if (rows.some(({ id }) => id === version.id)) return false;
        rows.push({ ...version, createdAtMs: 1 });
        return true;
      },
      listDecisionAliases: async () => [...aliases].map(([alias, version]) => ({ alias, version })),
      async setDecisionAlias(alias, version, { seed }) {
        if (!seed || !aliases.has(alias)) aliases.set(alias, version);
      },
      listSightings: async () => [],
    },
    changeCounter: () => at.writes,
    clock: { now: () => at.nowMs },
    problem: (message) => void problems.push(message),
    ...more,
  };
  const written = () => {
    at.writes += 1;
    at.nowMs += 1000;
  };
  return { models: new DecisionModels(deps), deps, rows, aliases, problems, written, at };
}

test("an alias that differs from a version only in case leads to its own target", async () => {
  const { models } = setUp([entry("judge-1.0.0"), entry("judge-2.0.0", ["JUDGE-1.0.0"])]);
  await models.load();
  expect(models.find("judge-1.0.0")?.id).toBe("judge-1.0.0");
  expect(models.find("JUDGE-1.0.0")?.id).toBe("judge-2.0.0");
  expect(models.find("Judge-2.0.0")?.id).toBe("judge-2.0.0");
});

test("an entry under the id of a version that was calibrated from another is reported", async () => {
  const { models, rows, problems } = setUp([entry("judge-1.0.0"), entry("judge-1.1.0")]);
  const origin = versionOfConfig(entry("judge-1.0.0"), UNCALIBRATED);
  const fitted = { method: "fitted" as const, buckets: { noul: { temperature: 2, rows: 50 } } };
  rows.push({ ...rowOf(recalibrated(origin, "judge-1.1.0", fitted)), createdAtMs: 1 });
  await models.load();
  expect(models.find("judge-1.1.0")?.calibration).toEqual(fitted);
  expect(problems).toEqual([expect.stringContaining('"judge-1.1.0" is the id of a version')]);
});

test.each<["auto" | "none" | "content_free", "none" | "content_free" | undefined, boolean]>([
  ["auto", "content_free", false],
  // Versions of earlier releases, in which the default was none.
  ["auto", "none", false],
  ["auto", undefined, false],
  ["none", undefined, false],
  ["none", "content_free", true],
  ["content_free", "none", true],
])("an entry with the prior %s over a stored version with %s: edited is %s", async (given, stored, edited) => {
  const letters = (prior: typeof given) => {
    const { backend, ...rest } = entry("judge-1.0.0");
    return { ...rest, backend: { ...backend, kind: "logprobs", prior } };
  };
  const { models, rows, problems } = setUp([letters(given)]);
  const row = rowOf(versionOfConfig(letters(stored ?? "none"), UNCALIBRATED));
  const { prior: _, ...spec } = row.record["spec"] as BackendSpec;
  rows.push({
    ...row,
    record: { ...row.record, spec: stored === undefined ? spec : { ...spec, prior: stored } },
    createdAtMs: 1,
  });
  await models.load();
  expect([problems.length > 0, models.find("judge-1.0.0")?.edited]).toEqual([edited, edited]);
  expect(models.find("judge-1.0.0")?.spec.prior).toBe(stored as "none");
});

test.each<[string, "auto" | "none" | "content_free", Partial<Calibration>, string]>([
  ["logprobs", "auto", {}, "content_free"],
  ["logprobs", "auto", { method: "fitted" }, "none"],
  ["logprobs", "auto", { method: "fitted", prior: "content_free" }, "content_free"],
  ["logprobs", "none", {}, "none"],
  ["logprobs", "content_free", { method: "fitted" }, "content_free"],
  ["verbalized", "auto", {}, "none"],
  ["systemone", "auto", {}, "none"],
])("%s with the prior %s and the calibration %p has %s", (kind, prior, calibration, has) => {
  const { backend, ...rest } = entry("judge-1.0.0");
  const made = versionOfConfig({ ...rest, backend: { ...backend, kind, prior } }, { ...UNCALIBRATED, ...calibration });
  expect(made.spec.prior).toBe(has as "none");
  // Its successor keeps what its rows were read with.
  expect(recalibrated(made, "judge-1.1.0", { method: "fitted", buckets: {} }).spec.prior).toBe(has as "none");
});

test("an outdated read does not overwrite the result of a later one", async () => {
  const { models, deps, aliases, written } = setUp([entry("a-1.0.0", ["a"]), entry("a-2.0.0")]);
  await models.load();
  const held = Promise.withResolvers<void>();
  const listed = deps.store.listDecisionAliases;
  deps.store.listDecisionAliases = async () => {
    deps.store.listDecisionAliases = listed;
    const before = await listed();
    await held.promise;
    return before;
  };
  written();
  const slow = models.current();
  aliases.set("a", "a-2.0.0");
  written();
  await models.current();
  expect(models.find("a")?.id).toBe("a-2.0.0");
  held.resolve();
  await slow;
  expect(models.find("a")?.id).toBe("a-2.0.0");
});

test("a failed read is repeated", async () => {
  const { models, deps, aliases, written, at } = setUp([entry("a-1.0.0", ["a"]), entry("a-2.0.0")]);
  await models.load();
  const listed = deps.store.listDecisionAliases;
  deps.store.listDecisionAliases = () => Promise.reject(new ApiError("internal_error", "busy"));
  aliases.set("a", "a-2.0.0");
  written();
  await expect(models.current()).rejects.toThrow("busy");
  deps.store.listDecisionAliases = listed;
  // Time passes, but nothing is written.
  at.nowMs += 1000;
  await models.current();
  expect(models.find("a")?.id).toBe("a-2.0.0");
});
