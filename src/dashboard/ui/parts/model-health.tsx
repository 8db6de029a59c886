// The health of a model, in the same word and colour on every page.

import type { HealthWord } from "../../contract-admin.ts";
import { Badge } from "./notice.tsx";

const KINDS = { healthy: "ok", degraded: "warn", unavailable: "danger", unknown: undefined } as const;

/** What is known of a model's health. */
export function HealthBadge({ health }: { health: HealthWord }) {
  return <Badge kind={KINDS[health]}>{health}</Badge>;
}
