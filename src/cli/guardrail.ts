// `sallyport guardrail …`: tries a guardrail of the configuration on labelled texts, without a running server.

import { createLocalFleet, OPERATOR } from "../app/local-fleet.ts";
import { systemClock } from "../base/clock.ts";
import { isRecord } from "../base/json-object.ts";
import { type Proportion, proportion } from "../base/proportion.ts";
import type { Config } from "../config/schema.ts";
import { answerOwnQuestion } from "../decisions/api/own-question.ts";
import { decisionCost } from "../decisions/models/prices.ts";
import { createUpstreams } from "../decisions/models/upstreams.ts";
import { createGuardrails, type Guardrail } from "../gateway/stages/guardrails/guardrail.ts";
import type { GuardTools } from "../gateway/stages/guardrails/tools.ts";
import { foundIn } from "../gateway/stages/guardrails/trial.ts";
import { createAddressGuard } from "../net/address-guard.ts";
import { createFetch } from "../net/fetch.ts";
import { createResolve } from "../net/resolve.ts";
import type { Store } from "../store/engine/store.ts";
import { loadModels } from "./calibrate.ts";
import type { Command, CommandGroup, Context } from "./command.ts";
import { failure, printRecord, withStore } from "./workspace.ts";

const DATA_BYTES_MAX = 256 * 1024 * 1024;
const ROW_MS = 600_000;
const REQUEST = { caller: OPERATOR, model: "", requestId: "local", endpoint: "guardrail test" };

interface Row {
  readonly text: string;
  /** Whether the guardrail should find something in it. */
  readonly label: boolean;
}

interface Tried extends Row {
  /** Undefined if the check failed. */
  readonly found: boolean | undefined;
  readonly ms: number;
}

const test: Command = {
  summary: "measure a guardrail on labelled texts",
  examples: ["sallyport guardrail test no-secrets --data texts.jsonl"],
  usage: "NAME --data FILE.jsonl",
  args: [1, 1],
  options: [{ name: "data", value: "FILE", summary: "JSON lines of {text, label}; label: whether it should be found" }],
  details:
    "Prints precision and recall at the configured threshold with their 95 % intervals, what the calls of decision models cost, and\nthe time that the check takes. Rows whose check fails are counted apart.",
  usesProviders: true,
  async run(context) {
    const [name] = context.args as readonly [string];
    const rows = await readRows(context.flags.required("data"));
    return await withStore(context, { create: true }, async (store, config) => {
      const entry = config.guardrails.find((one) => one.name === name);
      if (entry === undefined) throw failure(`there is no guardrail ${JSON.stringify(name)}`);
      const spent = { micros: 0 };
      const tools = await toolsOf(config, { context, store, spent });
      const [guardrail] = createGuardrails([entry], tools) as [Guardrail];
      const tried: Tried[] = [];
      for (const row of rows) tried.push(await tryRow(guardrail, row));
      printRecord(context, report(tried, spent.micros));
      return 0;
    });
  },
};

async function readRows(path: string): Promise<Row[]> {
  const file = Bun.file(path);
  if (!(await file.exists())) throw failure(`there is no file ${path}`);
  if (file.size > DATA_BYTES_MAX) throw failure(`${path} is larger than ${DATA_BYTES_MAX} bytes`);
  const rows: Row[] = [];
  for (const [at, line] of (await file.text()).split("\n").entries()) {
    if (line.trim() !== "") rows.push(rowOf(line, `${path}, line ${at + 1}`));
  }
  if (rows.length === 0) throw failure(`${path} has no rows`);
  return rows;
}

function rowOf(line: string, where: string): Row {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw failure(`${where}: expected a JSON object`);
  }
  const { text, label } = isRecord(value) ? value : {};
  if (typeof text !== "string") throw failure(`${where}: "text" must be a text`);
  if (typeof label !== "boolean") throw failure(`${where}: "label" must be true or false`);
  return { text, label };
}

async function tryRow(guardrail: Guardrail, row: Row): Promise<Tried> {
  const startedMs = performance.now();
  let found: boolean | undefined;
  try {
    found = await foundIn(guardrail, row.text, REQUEST);
  } catch {
    found = undefined;
  }
  return { ...row, found, ms: performance.now() - startedMs };
}

/** What checks need that ask others. Nothing is recorded. */
async function toolsOf(
  config: Config,
  { context, store, spent }: { context: Context; store: Store; spent: { micros: number } },
): Promise<GuardTools> {
  const { fleet, calls } = createLocalFleet(config, (message) => context.err(`sallyport: ${message}\n`));
  const models = await loadModels(store, config, context);
  const upstreams = createUpstreams({ ...calls, config: () => config, chatProvider: fleet.provider });
  const baseUrl = (name: string) => config.providers.find((provider) => provider.name === name)?.baseUrl;
  const prices = { baseUrl, chatPrices: fleet.prices };
  return {
    fetch: createFetch(createAddressGuard(config.web, createResolve(config.web.dns))),
    webhookSecret: config.alerts.webhookSecret,
    nowSeconds: () => Math.floor(systemClock.now() / 1000),
    decide: (asked) =>
      answerOwnQuestion(asked, {
        models,
        upstream: (version, deadline) => upstreams.open(version.spec, deadline),
        priors: undefined,
        timeoutMs: () => ROW_MS,
        answered: () => undefined,
        answeredNonsense: () => undefined,
        record: ({ costMicros }) => {
          spent.micros += costMicros;
        },
        cost: (decision, version) => decisionCost(decision, version, prices),
        clock: systemClock,
        // Nobody's budget is asked.
        budgets: { reserve: () => Promise.reject(new Error("there are no budgets here")) },
        worstCaseMicros: () => Promise.resolve(0),
      }),
  };
}

function report(tried: readonly Tried[], micros: number): Record<string, unknown> {
  const read = tried.filter(({ found }) => found !== undefined);
  const found = read.filter((row) => row.found);
  const meant = read.filter(({ label }) => label);
  const hits = found.filter(({ label }) => label).length;
  const times = tried.map(({ ms }) => ms).sort((a, b) => a - b);
  return {
    rows: tried.length,
    labelled: meant.length,
    found: found.length,
    failed: tried.length - read.length,
    ...shown("precision", proportion(hits, found.length)),
    ...shown("recall", proportion(hits, meant.length)),
    cost_usd: micros / 1_000_000,
    ms_median: rounded(times[Math.floor(times.length / 2)]!),
    ms_p95: rounded(times[Math.floor(times.length * 0.95)]!),
  };
}

function shown(name: string, { value, low, high }: Proportion): Record<string, unknown> {
  const range = `${rounded(low)} to ${rounded(high)}`;
  return { [name]: value === null ? null : rounded(value), [`${name}_95`]: range };
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** `sallyport guardrail`. */
export const guardrailCommand: CommandGroup = {
  summary: "measure the guardrails of the configuration",
  verbs: { test },
};
