// `sallyport decisions …`: the versions of decision models and where their aliases point. A running server follows within a
// second.
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
          log_loss: after?.["logLoss"] ?? null,
          ece: after?.["ece"] ?? null,
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
  options: [{ name: "force", summary: "also when the version was measured worse than the one it was made from" }],
  async run(context) {
    const [id, alias] = context.args as readonly [string, string];
    const from = await withStore(context, { create: true }, async (store, config) => {
      const models = await loadModels(store, config, context);
      const { versions, aliases } = await models.current();
      const version = versions.get(id);
      if (version === undefined) throw failure(`there is no version ${JSON.stringify(id)}`);
      if (versions.has(alias)) throw failure(`${JSON.stringify(alias)} is a version, not an alias`);
      const [was, is] = [
        metricsOf(version.metrics, "before")?.["logLoss"],
        metricsOf(version.metrics, "after")?.["logLoss"],
      ];
      if (typeof was === "number" && typeof is === "number" && is > was && !context.flags.has("force")) {
        throw failure(
          `${id} is worse on rows it was not fitted on: log-loss ${is.toFixed(4)} instead of ${was.toFixed(4)}`,
        );
      }
      await decisionStore(store).setDecisionAlias(alias, id, { seed: false });
      return aliases.get(alias) ?? null;
    });
    printRecord(context, { alias, version: id, before: from });
    return 0;
  },
};

/** `sallyport decisions`. */
export const decisions: CommandGroup = { summary: "decision models and their aliases", verbs: { list, promote } };

function metricsOf(metrics: Readonly<Record<string, unknown>> | null, which: "before" | "after") {
  const part = metrics?.[which];
  return typeof part === "object" && part !== null ? (part as Readonly<Record<string, unknown>>) : undefined;
}
