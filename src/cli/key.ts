// `sallyport key …`: API keys. A running server notices a new or revoked key within a second.

import { isoTime } from "../base/iso-time.ts";
import { parseCidr } from "../net/address.ts";
import { type Account, accountStore } from "../store/access/accounts.ts";
import { DEBUG_BYTES_MAX, DEBUG_REQUESTS_MAX, keyDebugStore } from "../store/access/key-debug.ts";
import type { KeyInfo } from "../store/access/key-rows.ts";
import { keyStore } from "../store/access/keys.ts";
import { projectMemberStore } from "../store/access/project-members.ts";
import type { Store } from "../store/engine/store.ts";
import type { ManagementScope } from "../store/schema.ts";
import { keyBudgetNow } from "../store/usage/spending.ts";
import { MICROS_PER_USD, microsOf, noteUnpriced, periodOf } from "./budget-flags.ts";
import type { Command, CommandGroup } from "./command.ts";
import { UsageError } from "./failure.ts";
import type { CommandOption, Flags } from "./flags.ts";
import { modelsFlag, RUN_USAGE, runFlags, runOptions } from "./limit-flags.ts";
import { failure, futureFlag, nowMs, printRecord, printRows, withStore } from "./workspace.ts";

const NAME_CHARS_MAX = 100;

const ACCOUNT: CommandOption = { name: "account", value: "EMAIL", summary: "the account's e-mail address" };

const create: Command = {
  summary: "create a key; it is shown once",
  examples: [
    "sallyport key create --account ada@example.com --name laptop",
    "sallyport key create --account ada@example.com --name terraform --manage",
    "sallyport key create --account ada@example.com --name ci --rpm 30 --budget 5 --budget-period 30d --models 'gpt-*' --json",
  ],
  usage: `--account EMAIL --name N [--rpm N] [--expires ISO] [--budget USD --budget-period 30d] [--models GLOB]… [--mcp NAME]… [--tpm N] [--parallel N] [--address CIDR]… ${RUN_USAGE} [--project ID] [--passthrough] [--no-store] [--manage | --manage-all]`,
  options: [
    ACCOUNT,
    { name: "name", value: "N", summary: "a name that says what the key is for" },
    { name: "rpm", value: "N", summary: "requests a minute (default: the plan's)" },
    { name: "tpm", value: "N", summary: "tokens a minute (default: the plan's)" },
    { name: "parallel", value: "N", summary: "requests at once (default: the plan's)" },
    { name: "expires", value: "ISO", summary: "when the key expires (default: never)" },
    { name: "budget", value: "USD", summary: "the budget in US dollars" },
    {
      name: "budget-period",
      value: "TIME",
      summary: "the budget renews after each period, such as 30d (default: never)",
    },
    {
      name: "models",
      value: "GLOB",
      multiple: true,
      summary: "models that it may use, such as gpt-*; may be repeated (default: all models of the plan)",
    },
    {
      name: "mcp",
      value: "NAME",
      multiple: true,
      summary: "MCP servers that it may use; may be repeated (default: all of the plan)",
    },
    {
      name: "address",
      value: "CIDR",
      multiple: true,
      summary: "addresses from which it may be used, such as 10.0.0.0/8; may be repeated (default: any)",
    },
    ...runOptions("the plan's"),
    {
      name: "manage",
      summary:
        "make a management key (sk-m-…), which manages the keys of the account, or of the project, and asks no model",
    },
    { name: "manage-all", summary: "the same for the keys of all accounts; the account must be an administrator's" },
    {
      name: "project",
      value: "ID",
      summary: "the project whose limits hold beside its own; the account must be a member",
    },
    { name: "passthrough", summary: "allow requests to any path of a provider, below /v1/upstream/PROVIDER/" },
    {
      name: "no-store",
      summary: "never store the content of its requests: no responses, threads, conversations or files",
    },
  ],
  async run(context) {
    const { flags } = context;
    const email = flags.required("account");
    const name = flags.required("name");
    if (name.length > NAME_CHARS_MAX) throw new UsageError(`--name: expected at most ${NAME_CHARS_MAX} characters`);
    const rpm = flags.integer("rpm", 1) ?? null;
    const expiresAtMs = futureFlag(flags, "expires") ?? null;
    const budget = budgetOf(flags);
    const limits = {
      ...{ rpm, expiresAtMs, ...budget },
      tpm: flags.integer("tpm", 1) ?? null,
      parallel: flags.integer("parallel", 1) ?? null,
      addresses: addressesOf(flags),
      ...runFlags(flags),
      management: managementOf(flags),
      models: modelsFlag(flags),
      projectId: flags.text("project") ?? null,
      noStore: flags.has("no-store"),
      passthrough: flags.has("passthrough"),
      mcpServers: flags.all("mcp").length === 0 ? null : flags.all("mcp"),
    };
    const made = await withStore(context, { create: false }, async (store, config) => {
      const unknown = limits.mcpServers?.find((one) => !config.mcp.servers.has(one));
      if (unknown !== undefined) throw new UsageError(`--mcp: there is no MCP server ${unknown} in the configuration`);
      const { id, tier, admin } = await accountOf(store, email);
      if (limits.management === "all" && !admin)
        throw failure(`--manage-all: the account of ${email} is not an administrator's`);
      await requireMember(store, { email, accountId: id, projectId: limits.projectId });
      const key = await keyStore(store).createKey({ accountId: id, name, ...limits });
      if (budget.budgetMicros !== null) await noteUnpriced(context, config, tier);
      return key;
    });
    printRecord(context, made);
    return 0;
  },
};

const list: Command = {
  summary: "list an account's keys",
  examples: ["sallyport key list --account ada@example.com"],
  usage: "--account EMAIL",
  options: [ACCOUNT],
  async run(context) {
    const email = context.flags.required("account");
    const rows = await withStore(context, { create: false }, async (store) =>
      keyStore(store).listKeys((await accountOf(store, email)).id),
    );
    printRows(context, rows.map(shown), { none: `${email} has no keys yet.`, forPeople });
    return 0;
  },
};

const revoke: Command = {
  summary: "revoke a key permanently",
  examples: ["sallyport key revoke --id KEY_ID"],
  usage: "--id ID",
  options: [{ name: "id", value: "ID", summary: "the key's id, from `key list`" }],
  async run(context) {
    const id = context.flags.required("id");
    const revoked = await withStore(context, { create: false }, (store) => keyStore(store).revokeKey(id));
    if (!revoked) throw failure(`there is no active key with the id ${id}`);
    printRecord(context, { id, revoked: true });
    return 0;
  },
};

/** Half an hour is enough to find a mistake. A whole day would be a record of a person's work. */
const DEBUG_MINUTES = 30;
const DEBUG_MINUTES_MAX = 24 * 60;
const MINUTE_MS = 60_000;

const debug: Command = {
  summary: "record the messages of a key's requests for some minutes, to find a mistake",
  examples: ["sallyport key debug KEY_ID --minutes 10", "sallyport key debug KEY_ID --off"],
  usage: "ID (--minutes N | --off)",
  args: [1, 1],
  options: [
    { name: "minutes", value: "N", summary: `for how long, up to ${DEBUG_MINUTES_MAX} (default ${DEBUG_MINUTES})` },
    { name: "off", summary: "stop now and delete what was recorded" },
  ],
  details: `Requests and answers are kept on the client's side and on the providers', without credentials, and shown in the
request log of the dashboard: at most ${DEBUG_REQUESTS_MAX} requests and ${DEBUG_BYTES_MAX / 1024 ** 2} MiB. The key's holder is told of it in
the dashboard and by GET /v1/key. All of it is deleted when the time is over. Keys made with --no-store are refused.
`,
  async run(context) {
    const { flags, args } = context;
    const [id = ""] = args;
    const minutes = flags.integer("minutes", 1) ?? DEBUG_MINUTES;
    if (flags.has("off") && flags.text("minutes") !== undefined)
      throw new UsageError("--off and --minutes cannot be combined");
    if (minutes > DEBUG_MINUTES_MAX) throw new UsageError(`--minutes: expected at most ${DEBUG_MINUTES_MAX}`);
    const untilMs = flags.has("off") ? null : nowMs() + minutes * MINUTE_MS;
    const done = await withStore(context, { create: false }, (store) => keyDebugStore(store).setKeyDebug(id, untilMs));
    if (done === "no_key") throw failure(`there is no active key with the id ${id}`);
    if (done === "no_store") throw failure("this key was made with --no-store: its requests may not be recorded");
    printRecord(context, { id, debug_until: isoTime(untilMs) });
    return 0;
  },
};

/** `sallyport key`. */
export const key: CommandGroup = { summary: "create and manage API keys", verbs: { create, list, revoke, debug } };

async function accountOf(store: Store, email: string): Promise<Account> {
  const account = await accountStore(store).findAccountByEmail(email);
  if (account === undefined) throw failure(`there is no account with the e-mail address ${email}`);
  return account;
}

function managementOf(flags: Flags): ManagementScope | null {
  if (flags.has("manage-all")) return "all";
  if (!flags.has("manage")) return null;
  return flags.text("project") === undefined ? "account" : "project";
}

function addressesOf(flags: Flags): readonly string[] | null {
  const ranges = flags.all("address");
  const wrong = ranges.find((range) => parseCidr(range) === undefined);
  if (wrong !== undefined)
    throw new UsageError(`--address: expected an address or a range such as 10.0.0.0/8, not ${wrong}`);
  return ranges.length === 0 ? null : ranges;
}

async function requireMember(
  store: Store,
  { email, accountId, projectId }: { email: string; accountId: string; projectId: string | null },
): Promise<void> {
  if (projectId === null) return;
  if ((await projectMemberStore(store).findRole(projectId, accountId)) !== undefined) return;
  throw failure(`${email} is not a member of a project with the id ${projectId}`);
}

function budgetOf(flags: Flags): { budgetMicros: number | null; budgetPeriodMs: number | null } {
  const usd = flags.text("budget");
  const period = flags.text("budget-period");
  if (usd === undefined) {
    if (period !== undefined) throw new UsageError("--budget-period needs --budget");
    return { budgetMicros: null, budgetPeriodMs: null };
  }
  return { budgetMicros: microsOf("budget", usd), budgetPeriodMs: periodOf("budget-period", period) };
}

/** The budget in one column, with its period in the form of `--budget-period`. */
function forPeople(row: ReturnType<typeof shown>) {
  const { budget_usd: budget, spent_usd: spent, budget_period_seconds: seconds, key, id, name, rpm, ...rest } = row;
  const period = seconds === null ? "" : ` / ${periodText(seconds)}`;
  return {
    ...{ id, name, key, rpm },
    budget: budget === null ? null : `$${budget}${period}`,
    spent: spent === null || spent === 0 ? null : `$${spent}`,
    ...rest,
  };
}

function periodText(seconds: number): string {
  if (seconds % 86_400 === 0) return `${seconds / 86_400}d`;
  return seconds % 3600 === 0 ? `${seconds / 3600}h` : `${seconds}s`;
}

function shown(row: KeyInfo) {
  const usd = (micros: number | null) => (micros === null ? null : micros / MICROS_PER_USD);
  return {
    id: row.id,
    name: row.name,
    key: `${row.prefix}…${row.lastFour}`,
    rpm: row.rpm,
    budget_usd: usd(row.budgetMicros),
    spent_usd: usd(keyBudgetNow(row, nowMs())?.spentMicros ?? row.spentMicros),
    budget_period_seconds: row.budgetPeriodMs === null ? null : row.budgetPeriodMs / 1000,
    expires_at: isoTime(row.expiresAtMs),
    revoked_at: isoTime(row.revokedAtMs),
    created_at: isoTime(row.createdAtMs),
    last_used_at: isoTime(row.lastUsedAtMs),
    no_store: row.noStore,
    debug_until: row.debugUntilMs !== null && row.debugUntilMs > nowMs() ? isoTime(row.debugUntilMs) : null,
    models: row.models,
    tpm: row.tpm,
    parallel: row.parallel,
    addresses: row.addresses,
    ...{ run_usd: usd(row.runMicros), run_requests: row.runRequests, run_repeats: row.runRepeats },
    disabled: row.disabled,
    management: row.management,
    project_id: row.projectId,
    passthrough: row.passthrough,
    mcp_servers: row.mcpServers,
  };
}
