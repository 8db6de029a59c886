// `sallyport decisions …`: lists the versions of decision models and moves their aliases. A running server notices within a
// second.

import { isoTime } from "../base/iso-time.ts";
import { PromotionRefused, promoteVersion } from "../decisions/models/promote.ts";
import { correctionOf, isOutdatedVersion } from "../decisions/models/versions.ts";
import { decisionStore } from "../store/decisions/decisions.ts";
import { loadModels } from "./calibrate.ts";
import type { Command, CommandGroup } from "./command.ts";
import { failure, printRecord, printRows, withStore } from "./workspace.ts";

const list: Command = {
  summary: "list versions, their aliases and the measurements of their calibration",
  examples: ["sallyport decisions list"],
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
          calibration: correctionOf(version),
          outdated: isOutdatedVersion(version),
          log_loss: rounded(after?.["logLoss"]),
          ece: rounded(after?.["ece"]),
          answered_by: [...seen].join(" "),
          hash: version.hash.slice(0, 12),
          created_at: isoTime(version.createdAtMs),
        };
      });
    });
    printRows(context, rows, { none: "No decision models yet: configure decisions.models." });
    return 0;
  },
};

const promote: Command = {
  summary: "move an alias to a version",
  examples: ["sallyport decisions promote judge-1.1.0 judge-latest"],
  usage: "VERSION ALIAS [--force]",
  args: [2, 2],
  options: [
    {
      name: "force",
      summary: "even if the version was measured worse than its source or than the version it replaces",
    },
  ],
  async run(context) {
    const [id, alias] = context.args as readonly [string, string];
    const from = await withStore(context, { create: true }, async (store, config) => {
      const models = await loadModels(store, config, context);
      const force = context.flags.has("force");
      try {
        return (await promoteVersion({ models, store: decisionStore(store) }, { version: id, alias, force })).before;
      } catch (error) {
        throw error instanceof PromotionRefused ? failure(error.message) : error;
      }
    });
    printRecord(context, { alias, version: id, before: from });
    return 0;
  },
};

/** `sallyport decisions`. */
export const decisions: CommandGroup = { summary: "decision models and their aliases", verbs: { list, promote } };

function rounded(value: unknown): number | null {
  return typeof value === "number" ? Math.round(value * 1e4) / 1e4 : null;
}

function metricsOf(metrics: Readonly<Record<string, unknown>> | null, which: "before" | "after") {
  const part = metrics?.[which];
  return typeof part === "object" && part !== null ? (part as Readonly<Record<string, unknown>>) : undefined;
}
