// Problems of decision models that an operator should fix: unreadable calibration files, changed entries with the same id,
// outdated versions, upstreams that answer with other versions. Reads the database without changing it.

import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/schema.ts";
import { readCalibrationFile } from "../decisions/calibration/file.ts";
import { DecisionModels } from "../decisions/models/models.ts";
import type { DecisionVersion } from "../decisions/models/versions.ts";
import { DecisionWatch } from "../decisions/models/watch.ts";
import { decisionStore } from "../store/decisions/decisions.ts";
import { maybeDatabase, openDatabase } from "../store/engine/database.ts";
import type { Store } from "../store/engine/store.ts";
import type { Finding } from "./doctor-provider.ts";

/** One warning for each problem, or one line if there is none. Empty if no decision model is configured. */
export async function checkDecisions(config: Config): Promise<Finding[]> {
  const { decisions } = config;
  if (decisions.models.length === 0) return [];
  const problems = maybeDatabase(config)
    ? await problemsOfStored(config, decisions.models)
    : await problemsOfFiles(decisions.models);
  if (problems.length > 0) return problems.map((message) => ({ name: "decisions", status: "warning", message }));
  return [{ name: "decisions", status: "ok", message: `${decisions.models.length} configured` }];
}

type Models = Config["decisions"]["models"];

async function problemsOfStored(config: Config, configured: Models): Promise<string[]> {
  const problems: string[] = [];
  let store: Store;
  try {
    store = await openDatabase(config, { create: false });
  } catch {
    // The check of the database reports why it cannot be opened.
    return ["the stored versions were not checked: the database cannot be opened"];
  }
  try {
    const models = new DecisionModels({
      configured: () => configured,
      readCalibrationFile,
      store: decisionStore(store),
      changeCounter: () => store.changeCounter(),
      clock: systemClock,
      problem: (message) => void problems.push(message),
    });
    const { versions } = await models.current();
    for (const id of await driftedOf(store, [...versions.values()])) {
      problems.push(`${JSON.stringify(id)}: its upstream has answered with another version`);
    }
  } finally {
    await store.close();
  }
  return problems;
}

/** The versions that `/health` names as drifted, by what was recorded of their answers. */
async function driftedOf(store: Store, versions: readonly DecisionVersion[]): Promise<readonly string[]> {
  const watch = new DecisionWatch({
    store: decisionStore(store),
    versions: async () => versions,
    upstream: () => {
      throw new Error("No upstream is asked.");
    },
    clock: systemClock,
    warn: () => undefined,
  });
  await watch.restore();
  return (await watch.health()).drifted;
}

async function problemsOfFiles(configured: Models): Promise<string[]> {
  const problems: string[] = [];
  for (const { id, calibration } of configured) {
    if (calibration === "") continue;
    try {
      await readCalibrationFile(calibration);
    } catch (error) {
      problems.push(`${JSON.stringify(id)}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return problems;
}
