// Projects and members as the API shows them.

import { isoTime } from "../../base/iso-time.ts";
import { type RunLimitsView, runLimitsView } from "../../http/run-limits.ts";
import type { ProjectMember } from "../../store/access/project-members.ts";
import type { Project, ProjectRole, ProjectSize } from "../../store/access/projects.ts";
import { keyBudgetNow } from "../../store/usage/spending.ts";

/** A project. Money is in US dollars, times are dates; null means none. */
export interface ProjectView {
  readonly id: string;
  readonly object: "project";
  readonly name: string;
  /** The caller's own. */
  readonly role: ProjectRole;
  readonly budget: number | null;
  /** Such as `30d`. */
  readonly budget_period: string | null;
  /** The spending in the current period of the budget; of a project without a budget, all that its keys have spent. */
  readonly spent: number;
  readonly resets_at: string | null;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly parallel: number | null;
  /** Limits of each agent run of its keys. */
  readonly runs: RunLimitsView;
  readonly models: readonly string[] | null;
  readonly members: number;
  readonly keys: number;
  readonly created_at: string;
}

/** A member. */
export interface ProjectMemberView {
  readonly email: string;
  readonly username: string;
  readonly role: ProjectRole;
  /** The identity provider whose groups made it a member; null: a person did. */
  readonly provider: string | null;
  readonly created_at: string;
}

const MICROS_PER_USD = 1_000_000;
const SECOND_MS = 1000;
const UNITS = [
  ["d", 86_400_000] as const,
  ["h", 3_600_000] as const,
  ["m", 60_000] as const,
  ["s", SECOND_MS] as const,
];

/** Shows a project. `pendingMicros`: spending that is not written yet. */
export function projectView(
  row: Project,
  { role, size, pendingMicros, nowMs }: { role: ProjectRole; size: ProjectSize; pendingMicros: number; nowMs: number },
): ProjectView {
  const budget = keyBudgetNow(row, nowMs);
  return {
    ...{ id: row.id, object: "project", name: row.name, role },
    budget: row.budgetMicros === null ? null : row.budgetMicros / MICROS_PER_USD,
    budget_period: row.budgetPeriodMs === null ? null : periodText(row.budgetPeriodMs),
    spent: ((budget?.spentMicros ?? row.spentMicros) + pendingMicros) / MICROS_PER_USD,
    resets_at: isoTime(budget?.resetsAtMs ?? null),
    ...{ rpm: row.rpm, tpm: row.tpm, parallel: row.parallel, models: row.models, ...size },
    runs: runLimitsView(row),
    created_at: isoTime(row.createdAtMs),
  };
}

/** Shows a member. */
export function memberView({ email, username, role, provider, createdAtMs }: ProjectMember): ProjectMemberView {
  return { email, username, role, provider, created_at: isoTime(createdAtMs) };
}

function periodText(ms: number): string {
  const [unit, length] = UNITS.find(([, length]) => ms % length === 0) ?? ["s", SECOND_MS];
  return `${Math.round(ms / length)}${unit}`;
}
