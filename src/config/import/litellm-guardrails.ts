// The guardrails of a LiteLLM configuration: personal data (Presidio), secrets, patterns and words.
// Source: docs.litellm.ai/docs/proxy/guardrails.

import { LinearPattern } from "../../base/linear-pattern.ts";
import { lookUp } from "../../base/look-up.ts";
import { UnusedNames } from "../../base/unused-names.ts";
import { fileTextOf, listOf, type Mapping, mappingOf, type Notes, textsOf } from "./reading.ts";

const PAGE = "docs/guides/guardrails.md";

/** Presidio's entities, and the prebuilt patterns of the content filter, as what is found here. */
const ENTITIES: Readonly<Record<string, string>> = {
  EMAIL_ADDRESS: "email",
  PHONE_NUMBER: "phone",
  CREDIT_CARD: "card",
  IBAN_CODE: "iban",
  IP_ADDRESS: "ip",
};
const PREBUILT: Readonly<Record<string, string>> = {
  email: "email",
  phone: "phone",
  us_phone: "phone",
  visa: "card",
  mastercard: "card",
  amex: "card",
  discover: "card",
  credit_card: "card",
  iban: "iban",
  ipv4: "ip",
  ipv6: "ip",
  aws_access_key: "secret",
  github_token: "secret",
  slack_token: "secret",
};

type Action = "mask" | "deny";
/** A check with what becomes of what it finds. */
interface Found {
  readonly action: Action;
  readonly check: Mapping;
}
/** Where a guardrail stands, and where what it lacks is noted. */
interface Place {
  readonly at: string;
  readonly notes: Notes;
}

interface Kind {
  readonly carried: readonly string[];
  checks(params: Mapping, place: Place): readonly Found[];
}

const KINDS: Readonly<Record<string, Kind>> = {
  presidio: {
    carried: ["pii_entities_config", "output_parse_pii", "presidio_filter_scope"],
    checks: presidioChecks,
  },
  "hide-secrets": { carried: [], checks: () => [{ action: "mask", check: { kind: "pii", find: ["secret"] } }] },
  litellm_content_filter: { carried: ["patterns", "blocked_words"], checks: filterChecks },
};
const COMMON = ["guardrail", "mode", "default_on"];

/** The `guardrails` of the file. */
export function guardrailEntries(given: unknown, notes: Notes): readonly Mapping[] {
  const names = new UnusedNames({ before: "-" });
  if (given !== undefined && listOf(given) === undefined) notes.add("guardrails", "expected a list");
  return (listOf(given) ?? []).flatMap((value, index) => {
    const entry = mappingOf(value) ?? {};
    const params = mappingOf(entry["litellm_params"]) ?? {};
    const { guardrail } = params;
    const called = typeof entry["guardrail_name"] === "string" ? entry["guardrail_name"] : "guardrail";
    const place = { at: `guardrails[${index}] (${called})`, notes };
    const kind = typeof guardrail === "string" ? lookUp(KINDS, guardrail) : undefined;
    if (kind === undefined) {
      notes.add(
        place.at,
        `"${String(guardrail)}" is unknown: pii, pattern, words, schema, webhook and decision are offered (${PAGE})`,
      );
      return [];
    }
    const on = sidesOf(params);
    if (on.length === 0) {
      notes.add(
        place.at,
        `its mode is neither pre_call, during_call nor post_call; \`guardrails[].apply\` narrows others (${PAGE})`,
      );
      return [];
    }
    const checks = kind.checks(params, place);
    if (checks.length === 0) notes.add(place.at, `nothing of what it looks for can be found here (${PAGE})`);
    else if (params["default_on"] !== true)
      notes.add(
        place.at,
        `only in part: there for requests that name it, here for all: narrow it with \`guardrails[].apply\` (${PAGE})`,
      );
    for (const key of Object.keys(params))
      if (!COMMON.includes(key) && !kind.carried.includes(key))
        notes.add(`${place.at}.${key}`, `no counterpart among the keys of \`guardrails\` (${PAGE})`);
    const restore = params["output_parse_pii"] === true;
    return checks.map(({ action, check }) => ({
      name: names.take(nameOf(called)),
      on,
      check,
      action,
      ...(action === "mask" && !restore ? { restore } : {}),
    }));
  });
}

function nameOf(text: string): string {
  return text.replace(/[^\w.-]+/g, "-").slice(0, 50) || "guardrail";
}

/** `mode` is one or several; Presidio's scope narrows it. */
function sidesOf(params: Mapping): readonly string[] {
  const modes = textsOf(params["mode"]);
  const isInput = modes.some((mode) => mode === "pre_call" || mode === "during_call");
  const sides = [...(isInput ? ["input"] : []), ...(modes.includes("post_call") ? ["output"] : [])];
  const scope = params["presidio_filter_scope"];
  return scope === "input" || scope === "output" ? sides.filter((side) => side === scope) : sides;
}

function presidioChecks(params: Mapping, place: Place): readonly Found[] {
  const wanted = mappingOf(params["pii_entities_config"]);
  if (wanted === undefined) {
    place.notes.add(
      place.at,
      `only in part: e-mail addresses, phone numbers, cards, IBANs and IP addresses are found here, but no names (${PAGE})`,
    );
    return [{ action: "mask", check: { kind: "pii", find: Object.values(ENTITIES) } }];
  }
  const found = new FoundKinds();
  for (const [entity, action] of Object.entries(wanted)) {
    const kind = lookUp(ENTITIES, entity);
    if (kind === undefined)
      place.notes.add(`${place.at}.pii_entities_config.${entity}`, `not found here; a pattern may (${PAGE})`);
    else found.add(action, kind);
  }
  return found.checks();
}

/** What is to be found, by action. */
class FoundKinds {
  readonly #kinds = new Map<Action, Set<string>>();

  add(action: unknown, kind: string): void {
    const own = actionOf(action);
    this.#kinds.set(own, (this.#kinds.get(own) ?? new Set()).add(kind));
  }

  checks(): Found[] {
    return [...this.#kinds].map(([action, kinds]) => ({ action, check: { kind: "pii", find: [...kinds] } }));
  }
}

function actionOf(action: unknown): Action {
  return typeof action === "string" && action.toUpperCase() === "MASK" ? "mask" : "deny";
}

function filterChecks(params: Mapping, place: Place): readonly Found[] {
  const kinds = new FoundKinds();
  const patterns = new Map<Action, Record<string, string>>();
  for (const [index, value] of (listOf(params["patterns"]) ?? []).entries()) {
    const at = `${place.at}.patterns[${index}]`;
    const { pattern_type: type, pattern_name: prebuilt, pattern, name, action } = mappingOf(value) ?? {};
    const kind = typeof prebuilt === "string" ? lookUp(PREBUILT, prebuilt) : undefined;
    if (type !== "regex" && kind !== undefined) kinds.add(action, kind);
    else if (type !== "regex" || typeof pattern !== "string") {
      place.notes.add(at, `"${String(prebuilt)}" is not found here: write a pattern for it (${PAGE})`);
    } else if (isReadable(pattern)) {
      const own = patterns.get(actionOf(action)) ?? {};
      own[patternName(name, index)] = fileTextOf(pattern);
      patterns.set(actionOf(action), own);
    } else place.notes.add(at, `the pattern has what is not supported, such as look-around (${PAGE})`);
  }
  const words = new Map<Action, string[]>();
  for (const value of listOf(params["blocked_words"]) ?? []) {
    const { keyword, action } = mappingOf(value) ?? {};
    if (typeof keyword !== "string" || keyword.trim() === "") continue;
    const own = words.get(actionOf(action));
    if (own === undefined) words.set(actionOf(action), [fileTextOf(keyword)]);
    else own.push(fileTextOf(keyword));
  }
  return [
    ...kinds.checks(),
    ...[...patterns].map(([action, own]) => ({ action, check: { kind: "pattern", patterns: own } })),
    ...[...words].map(([action, own]) => ({ action, check: { kind: "words", words: own } })),
  ];
}

function patternName(name: unknown, index: number): string {
  return typeof name === "string" && /^\w{1,40}$/.test(name) ? name.toUpperCase() : `PATTERN_${index + 1}`;
}

function isReadable(pattern: string): boolean {
  try {
    return new LinearPattern(pattern) !== undefined;
  } catch {
    return false;
  }
}
