// Checks whether a provider answers and accepts its key.

import type { ProviderConfig } from "../config/schema.ts";
import { probeModelList } from "../upstream/probe.ts";

/** One check's result. */
export interface Finding {
  readonly name: string;
  /** A warning does not fail the command. */
  readonly status: "ok" | "warning" | "failed";
  readonly message: string;
}

/** Performs the check. Never throws and never shows a key. */
export async function probeProvider(provider: ProviderConfig): Promise<Finding> {
  const { status, message } = await probeModelList(provider);
  return { name: `provider ${provider.name}`, status, message };
}
