// The measurements of a fitted version. They are stored with it, so that it can be judged later without the rows.

import { isRecord } from "../../base/json-object.ts";
import type { CalibrationRun, Dataset, Report } from "./calibrate.ts";
import type { Bin, CalibrationMetrics } from "./metrics.ts";

/** The `metrics` of a stored version. Versions that the configuration defines have none. */
export interface Measurement {
  /** The version from which it was fitted. */
  readonly from: string;
  readonly fit_rows: number;
  /** Absent in rows of older releases. */
  readonly dataset?: Dataset;
  /** Over all held-out rows: `before` with the calibration of `from`, `after` with its own. */
  readonly before: KeptMetrics;
  readonly after: KeptMetrics;
  /** The same with reliability bins, and for each type of question if there are several; empty in rows of older releases. */
  readonly reports: readonly KeptReport[];
}

/** The measurements of a run, as they are stored. */
export function measurementOf(run: Pick<CalibrationRun, "reports" | "fitRows" | "dataset">, from: string): Measurement {
  const { before, after } = run.reports[0]!;
  return { from, fit_rows: run.fitRows, dataset: run.dataset, before, after, reports: run.reports };
}

/** Parses the `metrics` of a stored version; undefined if there are none that can be shown. */
export function readMeasurement(value: unknown): Measurement | undefined {
  if (!isRecord(value) || !isMetrics(value["before"]) || !isMetrics(value["after"])) return undefined;
  const { from, fit_rows: fitRows, dataset, before, after, reports } = value;
  return {
    from: typeof from === "string" ? from : "",
    fit_rows: typeof fitRows === "number" ? fitRows : 0,
    ...(isDataset(dataset) ? { dataset } : {}),
    before,
    after,
    reports: Array.isArray(reports) && reports.every(isReport) ? reports : [],
  };
}

/** Rows of older releases have no expected error by chance. */
export type KeptMetrics = Omit<CalibrationMetrics, "eceByChance" | "eceByChanceMax"> &
  Partial<Pick<CalibrationMetrics, "eceByChance" | "eceByChanceMax">>;

/** A report as it is stored. */
export type KeptReport = Omit<Report, "before" | "after"> & {
  readonly before: KeptMetrics;
  readonly after: KeptMetrics;
};

const FIGURES = ["rows", "accuracy", "majority", "logLoss", "brier", "ece"] as const;

function isMetrics(value: unknown): value is KeptMetrics {
  return isRecord(value) && FIGURES.every((name) => typeof value[name] === "number");
}

function isDataset(value: unknown): value is Dataset {
  return isRecord(value) && typeof value["sha256"] === "string" && typeof value["rows"] === "number";
}

function isReport(value: unknown): value is KeptReport {
  if (!isRecord(value) || typeof value["type"] !== "string") return false;
  return (
    isMetrics(value["before"]) && isMetrics(value["after"]) && isBins(value["bins"]) && isBins(value["binsBefore"])
  );
}

function isBins(value: unknown): value is readonly Bin[] {
  const sound = (bin: unknown) =>
    isRecord(bin) && ["confidence", "accuracy", "rows"].every((name) => typeof bin[name] === "number");
  return Array.isArray(value) && value.every(sound);
}
