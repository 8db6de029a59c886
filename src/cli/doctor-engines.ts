// `sallyport doctor --engines`: queries each search engine once, and reports which fail and since when. Reads what a server
// recorded about them, and changes nothing.

import { isoTime } from "../base/iso-time.ts";
import type { Config } from "../config/schema.ts";
import { whyOff } from "../search/chosen.ts";
import { ENGINES } from "../search/engines/index.ts";
import { maybeDatabase, openDatabase } from "../store/engine/database.ts";
import type { Store } from "../store/engine/store.ts";
import { settingsStore } from "../store/settings.ts";
import { readEngineHealth } from "../web/engine-health.ts";
import type { Context } from "./command.ts";
import { UsageError } from "./failure.ts";
import { searchWith } from "./search.ts";
import { withWebTools } from "./web-tools.ts";

/** The result of one engine. */
interface Checked {
  readonly name: string;
  /** `warning`: it answered without hits. */
  readonly status: "ok" | "warning" | "failed";
  readonly ms: number;
  readonly hits: number;
  readonly error?: string;
  /** The time since which it has not answered a server, in ISO 8601. */
  readonly failing_since?: string;
  readonly last_ok?: string;
}

/** Queries the engine of that name, or all enabled ones. Exit code 1 if one of them failed. */
export async function checkEngines(context: Context, name: string | undefined): Promise<number> {
  const config = context.config();
  const all = ENGINES.map((engine) => engine.name);
  if (name !== undefined && !all.includes(name))
    throw new UsageError(`there is no search engine ${name}; the engines are ${all.join(", ")}`);
  const off = ENGINES.filter((engine) => whyOff(engine, config.search) !== undefined);
  const asked = name === undefined ? all.filter((one) => !off.some((engine) => engine.name === one)) : [name];
  const known = await rememberedHealth(config);
  const print = (one: Checked) => {
    if (!context.flags.has("json")) context.out(lineOf(one));
  };
  const checked = await withWebTools(context, "search", async (tools, signal) => {
    const search = searchWith(tools, config, context);
    return Promise.all(
      asked.map(async (engine) => {
        const one = asChecked(engine, await search.probe(engine, signal), known[engine]);
        print(one);
        return one;
      }),
    ).finally(search.close);
  });
  const ok = checked.every(({ status }) => status !== "failed");
  if (context.flags.has("json")) context.out(`${JSON.stringify({ ok, engines: checked })}\n`);
  else if (name === undefined)
    context.out(offLines(Map.groupBy(off, (engine) => whyOff(engine, config.search) as string)));
  return ok ? 0 : 1;
}

type Known = Awaited<ReturnType<typeof readEngineHealth>>[string];
type Probe = Awaited<ReturnType<ReturnType<typeof searchWith>["probe"]>>;

function asChecked(name: string, probe: Probe, known: Known | undefined): Checked {
  const { hits = 0, ms = 0, error } = probe ?? {};
  const status = error !== undefined ? "failed" : hits === 0 ? "warning" : "ok";
  const isFailing = error !== undefined && known?.failingSinceMs !== undefined;
  return {
    name,
    status,
    ms: Math.round(ms),
    hits,
    ...(error === undefined ? {} : { error: `${error.kind}: ${error.message}` }),
    ...(isFailing ? { failing_since: isoTime(known.failingSinceMs as number) } : {}),
    ...(known?.lastOkAtMs === undefined ? {} : { last_ok: isoTime(known.lastOkAtMs) }),
  };
}

function lineOf({ name, status, ms, hits, error, failing_since: since, last_ok: lastOk }: Checked): string {
  const said = error ?? (hits === 0 ? "answered without results" : `${hits} ${hits === 1 ? "hit" : "hits"}`);
  const when =
    since === undefined ? "" : ` (failing since ${since}${lastOk === undefined ? "" : `, last answer ${lastOk}`})`;
  return `${status.padEnd(7)}  ${name.padEnd(20)}  ${String(ms).padStart(6)} ms  ${said}${when}\n`;
}

/** The engines that are not enabled, grouped by reason. */
function offLines(off: ReadonlyMap<string, readonly { readonly name: string }[]>): string {
  const lines = [...off].map(([why, engines]) => `  ${why}: ${engines.map(({ name }) => name).join(", ")}\n`);
  return lines.length === 0 ? "" : `\nNot asked:\n${lines.join("")}`;
}

/** The results that a server recorded; empty if no server has run yet. */
async function rememberedHealth(config: Config): ReturnType<typeof readEngineHealth> {
  if (!maybeDatabase(config)) return {};
  let store: Store;
  try {
    store = await openDatabase(config, { create: false });
  } catch {
    // Problems of the database are reported by `doctor` without `--engines`.
    return {};
  }
  try {
    return await readEngineHealth(settingsStore(store));
  } finally {
    await store.close();
  }
}
