// Which models a key may use: its patterns are compared with every name of a model.

import { ApiError } from "../base/errors.ts";

/** Patterns such as `gpt-*` or `openai/*`; null: no limit. `*` stands for any characters, `/` among them. */
export type KeyModels = readonly string[] | null;

/** The patterns of a key whose project has some too: a model must match one of each. */
export interface ProjectKeyModels {
  readonly key: KeyModels;
  readonly project: readonly string[];
}

/** The patterns that a caller's models must match. */
export type CallerModels = KeyModels | ProjectKeyModels;

/** The names of a model, for comparison with patterns. */
export interface ModelNames {
  readonly id: string;
  readonly aliases?: readonly string[] | undefined;
  readonly ownedBy?: string | undefined;
}

const PATTERNS_MAX = 100;
const PATTERN_CHARS_MAX = 200;

/** The patterns for a key with these, in a project with those. */
export function callerModels(key: KeyModels, project: KeyModels): CallerModels {
  return project === null ? key : { key, project };
}

/** Whether a pattern matches the id, an alias or `owned_by/id`, ignoring case. */
export function keyMayUse(patterns: CallerModels | undefined, model: ModelNames): boolean {
  return patterns == null || oneMatches(patterns, model);
}

function oneMatches(patterns: NonNullable<CallerModels>, model: ModelNames): boolean {
  if ("project" in patterns) return keyMayUse(patterns.key, model) && keyMayUse(patterns.project, model);
  const { id, aliases = [], ownedBy } = model;
  const names = [id, ...aliases, ...(ownedBy === undefined ? [] : [`${ownedBy}/${id}`])].map((name) =>
    name.toLowerCase(),
  );
  return patterns.some((pattern) => {
    const lower = pattern.toLowerCase();
    return names.some((name) => matches(lower, name));
  });
}

/**
 * Validates patterns that a person entered, and drops duplicates. Throws `ApiError` 400 naming `field`; without patterns:
 * null.
 */
export function keyModelsOf(patterns: readonly string[], field: string): KeyModels {
  const wanted = [...new Set(patterns.map((pattern) => pattern.trim()))];
  const wrong = (message: string) => new ApiError("invalid_request", message, { param: field });
  if (wanted.length > PATTERNS_MAX) throw wrong(`'${field}' takes at most ${PATTERNS_MAX} patterns.`);
  for (const pattern of wanted) {
    if (pattern === "" || pattern.length > PATTERN_CHARS_MAX || /[\p{Cc}\p{Cs}]/u.test(pattern)) {
      throw wrong(
        `Each of '${field}' is a model id or a pattern such as "gpt-*", of 1 to ${PATTERN_CHARS_MAX} characters.`,
      );
    }
  }
  return wanted.length === 0 ? null : wanted;
}

/** Never backtracks beyond the last `*`, so the time is bounded by the product of both lengths. */
function matches(pattern: string, name: string): boolean {
  let at = 0;
  let star = -1;
  let resumeAt = 0;
  for (let here = 0; here < name.length; ) {
    if (pattern[at] === "*") {
      star = at;
      at += 1;
      resumeAt = here;
    } else if (pattern[at] === name[here]) {
      at += 1;
      here += 1;
    } else if (star >= 0) {
      resumeAt += 1;
      here = resumeAt;
      at = star + 1;
    } else return false;
  }
  while (pattern[at] === "*") at += 1;
  return at === pattern.length;
}
