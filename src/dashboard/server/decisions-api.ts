// Decision models for operators: every version with its sources and measurements, and moving aliases.

import { requiredText } from "../../accounts/fields.ts";
import { ApiError } from "../../base/errors.ts";
import { isoTime } from "../../base/iso-time.ts";
import type {
  DecisionMetrics,
  DecisionReport,
  DecisionVersionRow,
  DecisionVersionView,
  Listing,
  ReliabilityBin,
} from "../contract.ts";
import { admin, type Endpoint } from "./endpoint.ts";
import type { KeysApiDeps } from "./keys-api.ts";

/** The measurements in the form in which the program stores them. */
interface Figures extends Omit<DecisionMetrics, "log_loss" | "ece_by_chance"> {
  readonly logLoss: number;
  readonly eceByChance?: number;
  readonly eceByChanceMax?: number;
}

/** A version in the form in which the program reports it. */
interface ShownVersion
  extends Omit<DecisionVersionRow, "created_at" | "measured">,
    Pick<DecisionVersionView, "description" | "hash" | "notes"> {
  readonly inputPrice: number | null;
  readonly createdAtMs: number | null;
  readonly parameters: readonly {
    readonly type: string;
    readonly options: string;
    readonly temperature: number;
    readonly bias?: number;
    readonly positions?: Readonly<Record<string, readonly number[]>>;
    readonly rows: number;
  }[];
  readonly measured: {
    readonly from: string;
    readonly fit_rows: number;
    readonly dataset?: { readonly sha256: string; readonly rows: number };
    readonly before: Figures;
    readonly after: Figures;
    readonly reports: readonly {
      readonly type: string;
      readonly before: Figures;
      readonly after: Figures;
      readonly binsBefore: readonly ReliabilityBin[];
      readonly bins: readonly ReliabilityBin[];
    }[];
  } | null;
  readonly sightings: readonly {
    readonly provider: string;
    readonly upstreamModel: string;
    readonly fingerprint: string;
    readonly firstAtMs: number;
    readonly lastAtMs: number;
  }[];
}

export interface DecisionsApiDeps extends Pick<KeysApiDeps, "note"> {
  readonly decisions: {
    overview(): Promise<readonly ShownVersion[]>;
    /** Returns the alias's former target. Throws `ApiError`. */
    promote(promotion: { version: string; alias: string }): Promise<{ before: string | null }>;
  };
}

/** The endpoints of decision models. */
export function decisionsApi({ decisions, note }: DecisionsApiDeps): Endpoint[] {
  return [
    admin(
      "GET",
      "/admin/decisions",
      async (): Promise<Listing<DecisionVersionRow>> => ({ data: (await decisions.overview()).map(rowOf) }),
    ),

    // The ids are in the query because they may contain slashes.
    admin("GET", "/admin/decisions/version", async ({ query }) => {
      const all = await decisions.overview();
      const version = all.find(({ id }) => id === query.get("id"));
      if (version === undefined) throw new ApiError("model_not_found", "There is no such version.", { param: "id" });
      return viewOf(version, all);
    }),

    admin("POST", "/admin/decisions/promote", async (visit) => {
      const body = await visit.body();
      const wanted = { version: requiredText(body, "version"), alias: requiredText(body, "alias").trim() };
      try {
        const { before } = await decisions.promote(wanted);
        await note("decision_promoted", visit, { ...wanted, before });
        return { ...wanted, before };
      } catch (error) {
        if (error instanceof ApiError) await note("decision_promotion_refused", visit, { ...wanted });
        throw error;
      }
    }),
  ];
}

function rowOf(version: ShownVersion): DecisionVersionRow {
  const { id, origin, name, tier, aliases, backend, routes, calibration, drifted, outdated, unfit, worse } = version;
  return {
    ...{ id, origin, name, tier, aliases, backend, routes, calibration, drifted, outdated, unfit, worse },
    created_at: isoTime(version.createdAtMs),
    measured: version.measured === null ? null : metricsView(version.measured.after),
  };
}

function viewOf(version: ShownVersion, versions: readonly ShownVersion[]): DecisionVersionView {
  const { measured, description, hash, notes, parameters, sightings } = version;
  return {
    ...rowOf(version),
    description,
    hash,
    notes,
    input_price: version.inputPrice,
    parameters: parameters.map(({ bias = null, positions = {}, ...rest }) => ({ ...rest, bias, positions })),
    measurement:
      measured === null
        ? null
        : {
            from: measured.from,
            fit_rows: measured.fit_rows,
            dataset: measured.dataset ?? null,
            reports: reportsOf(measured),
          },
    sightings: sightings.map(({ provider, upstreamModel, fingerprint, firstAtMs, lastAtMs }) => ({
      ...{ provider, model: upstreamModel, fingerprint },
      first_at: isoTime(firstAtMs),
      last_at: isoTime(lastAtMs),
    })),
    all_aliases: versions
      .flatMap(({ id, origin, aliases }) =>
        aliases.map((alias) => ({ alias, version: id, own: origin === version.origin })),
      )
      .sort((a, b) => (a.alias < b.alias ? -1 : 1)),
  };
}

/** Older programs stored only the sums. */
function reportsOf({ before, after, reports }: NonNullable<ShownVersion["measured"]>): DecisionReport[] {
  const all = reports.length > 0 ? reports : [{ type: "all", before, after, binsBefore: [], bins: [] }];
  return all.map(({ type, binsBefore, bins, ...both }) => ({
    type,
    before: metricsView(both.before),
    after: metricsView(both.after),
    bins_before: binsBefore,
    bins,
  }));
}

function metricsView({ logLoss, eceByChance, eceByChanceMax, ...same }: Figures): DecisionMetrics {
  const { rows, accuracy, majority, brier, ece } = same;
  const chance: [number, number] | null =
    eceByChance === undefined || eceByChanceMax === undefined ? null : [eceByChance, eceByChanceMax];
  return { rows, accuracy, majority, log_loss: logLoss, brier, ece, ece_by_chance: chance };
}
