// `sallyport decisions …`: the versions of decision models and where their aliases point. A running server follows within a
// second.
import { readMeasurement } from "../decisions/measurement.ts";
import type { DecisionVersion } from "../decisions/versions.ts";
import { decisionStore } from "../store/decisions.ts";
import { loadModels } from "./calibrate.ts";
import type { Command, CommandGroup } from "./command.ts";
import { failure, isoTime, printRecord, printRows, withStore } from "./workspace.ts";

const list: Command = {
  summary: "list versions, their aliases and what their calibration was measured at",
  async run(context) {
    const rows = await withStore(context, { create: true }, async (store, config) => {
      const { versions, aliases } = await (await loadModels(store, config, context)).current();
      const sightings = await decisionStore(store).listSightings();
      return [...versions.values()].map((version) => {
        const after = metricsOf(version.metrics, "after");
        const seen = new Set(sightings.filter((one) => one.version === version.id).map((one) => one.upstreamModel));
        return {
          id: version.id,
          aliases: [...aliases]
            .filter(([, target]) => target === version.id)
            .map(([alias]) => alias)
            .join(" "),
          backend: version.spec.kind,
          tier: version.tier,
          calibration: version.calibration.method,
          log_loss: rounded(after?.["logLoss"]),
          ece: rounded(after?.["ece"]),
          answered_by: [...seen].join(" "),
          hash: version.hash.slice(0, 12),
          created_at: isoTime(version.createdAtMs),
        };
      });
    });
    printRows(context, rows);
    return 0;
  },
};

const promote: Command = {
  summary: "move an alias to a version",
  usage: "VERSION ALIAS [--force]",
  args: [2, 2],
  options: [
    { name: "force", summary: "also when the version was measured worse than what it was made from or replaces" },
  ],
  async run(context) {
    const [id, alias] = context.args as readonly [string, string];
    const from = await withStore(context, { create: true }, async (store, config) => {
      const models = await loadModels(store, config, context);
      const { versions, aliases } = await models.current();
      const version = versions.get(id);
      if (version === undefined) throw failure(`there is no version ${JSON.stringify(id)}`);
      if (versions.has(alias)) throw failure(`${JSON.stringify(alias)} is a version, not an alias`);
      const worse = reasonAgainst(version, versions.get(aliases.get(alias) ?? ""));
      if (worse !== undefined && !context.flags.has("force")) throw failure(`${id} ${worse}`);
      await decisionStore(store).setDecisionAlias(alias, id, { seed: false });
      return aliases.get(alias) ?? null;
    });
    printRecord(context, { alias, version: id, before: from });
    return 0;
  },
};

/** `sallyport decisions`. */
export const decisions: CommandGroup = { summary: "decision models and their aliases", verbs: { list, promote } };

/** Why a version should not take an alias over: it does worse on held-out rows than what it was made from, or than what has it. */
function reasonAgainst(version: DecisionVersion, current: DecisionVersion | undefined): string | undefined {
  const is = metricsOf(version.metrics, "after")?.["logLoss"];
  if (typeof is !== "number") return undefined;
  const worseThan = (was: unknown, whose: string) =>
    typeof was === "number" && is > was
      ? `is worse on rows it was not fitted on: log-loss ${is.toFixed(4)} instead of ${was.toFixed(4)}${whose}`
      : undefined;
  const own = worseThan(metricsOf(version.metrics, "before")?.["logLoss"], "");
  const [mine, theirs] = [readMeasurement(version.metrics), readMeasurement(current?.metrics)];
  // Only figures on the same rows can be compared.
  const comparable = mine?.dataset !== undefined && mine.dataset.sha256 === theirs?.dataset?.sha256;
  return own ?? (comparable ? worseThan(theirs?.after.logLoss, ` of ${current?.id}`) : undefined);
}

function rounded(value: unknown): number | null {
  return typeof value === "number" ? Math.round(value * 1e4) / 1e4 : null;
}

function metricsOf(metrics: Readonly<Record<string, unknown>> | null, which: "before" | "after") {
  const part = metrics?.[which];
  return typeof part === "object" && part !== null ? (part as Readonly<Record<string, unknown>>) : undefined;
}
