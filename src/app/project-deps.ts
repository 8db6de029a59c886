// What projects need, for the HTTP API and for the dashboard. Wiring only.

import type { ProjectsDeps } from "../accounts/projects/projects.ts";
import { keyModelsOf } from "../catalog/key-models.ts";
import type { Foundation } from "./foundation.ts";

/** What projects need. `keysChanged` drops cached copies of keys. */
export function projectDepsOf(
  { verbs, writer, clock }: Pick<Foundation, "verbs" | "writer" | "clock">,
  keysChanged: () => void,
): ProjectsDeps {
  return {
    readModels: keyModelsOf,
    ...{ keysChanged, writer, clock, accounts: verbs.accounts, audit: verbs.audit },
    projects: () => verbs.projects,
    members: () => verbs.projectMembers,
  };
}
