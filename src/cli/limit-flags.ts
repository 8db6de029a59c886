// The options of limits that keys and projects have in common.

import { ApiError } from "../base/errors.ts";
import { type KeyModels, keyModelsOf } from "../catalog/key-models.ts";
import { UsageError } from "./failure.ts";
import type { Flags } from "./flags.ts";

/** The patterns of `--models`; null: all models. */
export function modelsFlag(flags: Flags): KeyModels {
  try {
    return keyModelsOf(flags.all("models"), "--models");
  } catch (error) {
    if (error instanceof ApiError) throw new UsageError(error.message);
    throw error;
  }
}
