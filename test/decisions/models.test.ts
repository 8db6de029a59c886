// The list of models alone: what names resolve to, and the effect of outdated or failed reads.

import { expect, test } from "bun:test";
import { ApiError } from "../../src/base/errors.ts";
import { UNCALIBRATED } from "../../src/decisions/calibration/calibration.ts";
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
