// Whether a provider answers and takes its key.

import type { ProviderConfig } from "../config/schema.ts";
import { probeModelList } from "../upstream/probe.ts";

/** One thing that was examined. */
export interface Finding {
  readonly name: string;
  /** A warning does not fail the command. */
  readonly status: "ok" | "warning" | "failed";
  readonly message: string;
}

/** What became of the question. Never throws and never shows a key. */
export async function probeProvider(provider: ProviderConfig): Promise<Finding> {
  const { status, message } = await probeModelList(provider);
  return { name: `provider ${provider.name}`, status, message };
}
