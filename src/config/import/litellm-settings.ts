// The settings of a LiteLLM configuration that have a key of their own here.

import { lookUp } from "../../base/look-up.ts";
import { reasonOf } from "./litellm-reasons.ts";
import { durationOf, type Mapping, mappingOf, type Notes, wholeNumberOf } from "./reading.ts";

/** What all providers get, unless a deployment has its own. */
export interface ProviderDefaults {
  readonly attempts?: number | undefined;
  readonly firstByte?: string | undefined;
  readonly breaker?: Mapping | undefined;
}

/** The groups of settings; both of the first two may have those of the router. */
export interface SettingGroups {
  readonly router: Mapping;
  readonly library: Mapping;
  readonly general: Mapping;
}

/** Settings by place, as sections of the file; undefined: not convertible. */
const SETTINGS: Readonly<Record<string, (value: unknown) => Mapping | undefined>> = {
  "litellm_settings.json_logs": (value) => (value === true ? { log: { format: "json" } } : {}),
  "litellm_settings.set_verbose": (value) => (value === true ? { log: { level: "debug" } } : {}),
  "general_settings.max_request_size_mb": (value) => {
    const megabytes = wholeNumberOf(value);
    return megabytes === undefined || megabytes > 1024 ? undefined : { server: { max_body: `${megabytes}MiB` } };
  },
  "general_settings.health_check_interval": (value) => {
    const interval = durationOf(value);
    return interval === undefined || Number(value) < 1 ? undefined : { health: { interval } };
  },
  "general_settings.maximum_spend_logs_retention_period": (value) =>
    typeof value === "string" && /^[1-9]\d{0,4}[smhd]$/.test(value) ? { usage: { rollup_after: value } } : undefined,
};

/** Sections made from single settings. `read` gets the places that need no note of their own. */
export function settingSections(groups: SettingGroups, read: Set<string>): Mapping {
  const out: Record<string, Mapping> = {};
  for (const [group, settings] of Object.entries({
    litellm_settings: groups.library,
    general_settings: groups.general,
  })) {
    for (const [key, value] of Object.entries(settings)) {
      const place = `${group}.${key}`;
      const made = lookUp(SETTINGS, place)?.(value);
      if (made === undefined) continue;
      read.add(place);
      for (const [section, keys] of Object.entries(made)) out[section] = { ...out[section], ...mappingOf(keys) };
    }
  }
  return out;
}

/** Retries, time limits and breakers. What is not convertible is left to be noted. */
export function providerDefaults({ router, library }: SettingGroups, read: Set<string>): ProviderDefaults {
  const setting = <T>(keys: readonly string[], convert: (value: unknown) => T | undefined): T | undefined => {
    // The router's settings override the library's.
    const made = [router, library]
      .flatMap((settings) => keys.map((key) => convert(settings[key])))
      .find((one) => one !== undefined);
    if (made === undefined) return undefined;
    for (const key of keys) for (const group of ["router_settings", "litellm_settings"]) read.add(`${group}.${key}`);
    return made;
  };
  const failures = setting(["allowed_fails"], (value) => wholeNumberOf(value, 0));
  const cooldown = setting(["cooldown_time"], durationOf);
  return {
    attempts: setting(["num_retries"], attemptsOf),
    firstByte: setting(["timeout", "request_timeout"], durationOf),
    ...(failures === undefined && cooldown === undefined
      ? {}
      : {
          breaker: {
            // More than so many failures within a minute.
            ...(failures === undefined ? {} : { failures: Math.min(10_000, failures + 1), window: "60s" }),
            ...(cooldown === undefined ? {} : { cooldown }),
          },
        }),
  };
}

/** Attempts per route: LiteLLM counts the retries after the first one. */
export function attemptsOf(retries: unknown): number | undefined {
  const counted = wholeNumberOf(retries, 0);
  return counted === undefined ? undefined : Math.min(10, counted + 1);
}

/** The `cache` of the file; undefined if answers are not cached. */
export function cacheSection({ library }: SettingGroups, notes: Notes, read: Set<string>): Mapping | undefined {
  if (library["cache"] !== true) {
    if (library["cache"] === false) read.add("litellm_settings.cache");
    return undefined;
  }
  for (const key of ["cache", "cache_params"]) read.add(`litellm_settings.${key}`);
  const params = mappingOf(library["cache_params"]) ?? {};
  const isAsked = params["mode"] === "default_off";
  notes.add(
    "litellm_settings.cache",
    isAsked
      ? "only in part: with `cache.mode: ask`, clients ask with `Cache-Control: max-age=SECONDS` instead of `cache` in the body (docs/guides/cache.md)"
      : "only in part: `cache.mode: on` looks up embeddings and requests with a temperature of 0 or a seed, others only if they ask; answers are shared within an account (docs/guides/cache.md)",
  );
  const ttlKey = ["ttl", params["type"] === "redis" ? "default_in_redis_ttl" : "default_in_memory_ttl"].find(
    (key) => durationOf(params[key]) !== undefined,
  );
  const carried = new Set(["mode", ttlKey]);
  for (const [key, value] of Object.entries(params)) {
    const isUsual = key === "type" && (value === "local" || value === "redis");
    if (carried.has(key) || isUsual) continue;
    const place = `litellm_settings.cache_params.${key}`;
    notes.add(place, reasonOf(place));
  }
  const ttl = ttlKey === undefined ? undefined : durationOf(params[ttlKey]);
  return { mode: isAsked ? "ask" : "on", ...(ttl === undefined ? {} : { ttl }) };
}
