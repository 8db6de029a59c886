// `sallyport account …`: creates and manages accounts for the operator, also beside a running server.

import { emailFault, planStart, usernameFault } from "../accounts/new-account.ts";
import { hashPassword, passwordFault } from "../accounts/passwords/passwords.ts";
import { randomText } from "../base/ids.ts";
import { isoTime } from "../base/iso-time.ts";
import { tierGrants } from "../catalog/from-config.ts";
import { isTierId } from "../catalog/tiers.ts";
import type { Config, TierConfig } from "../config/schema.ts";
import { accountBudgetStore } from "../store/access/account-budgets.ts";
import { type Account, type AccountStore, accountStore } from "../store/access/accounts.ts";
import { codeStore } from "../store/access/codes.ts";
import { identityStore } from "../store/access/identities.ts";
import { keyStore } from "../store/access/keys.ts";
import { sessionStore } from "../store/access/sessions.ts";
import type { Store } from "../store/engine/store.ts";
import { MICROS_PER_USD, microsOf, noteUnpriced, periodOf } from "./budget-flags.ts";
import type { Command, CommandGroup, Context } from "./command.ts";
import { UsageError } from "./failure.ts";
import type { CommandOption } from "./flags.ts";
import { failure, futureFlag, nowMs, printRecord, printRows, timeFlag, withStore } from "./workspace.ts";

/** 24 of 62 characters: 142 bits. */
const GENERATED_PASSWORD_CHARS = 24;

const EMAIL: CommandOption = { name: "email", value: "E", summary: "the account's e-mail address" };
const TIER: CommandOption = { name: "tier", value: "T", summary: "the plan (default: the lowest)" };
const UNTIL: CommandOption = { name: "until", value: "ISO", summary: "when the subscription ends (default: never)" };
const PASSWORD_STDIN: CommandOption = { name: "password-stdin", summary: "read the password from stdin" };

const create: Command = {
  summary: "create an account",
  examples: ["sallyport account create --email ada@example.com --username ada --tier pro --json"],
  usage: "--email E --username U [--password-stdin] [--tier T] [--until ISO] [--verified] [--admin]",
  options: [
    EMAIL,
    { name: "username", value: "U", summary: "the user name" },
    { ...PASSWORD_STDIN, summary: "read the password from stdin (default: a generated one, shown once)" },
    TIER,
    UNTIL,
    { name: "verified", summary: "the e-mail address counts as verified" },
    { name: "admin", summary: "the account may administer this gateway" },
  ],
  async run(context) {
    const { flags } = context;
    const email = checked(flags.required("email"), "--email", emailFault);
    const username = checked(flags.required("username"), "--username", usernameFault);
    const untilMs = futureFlag(flags, "until");
    const given = flags.has("password-stdin") ? await readPassword(context) : undefined;
    const password = given ?? randomText(GENERATED_PASSWORD_CHARS);
    const account = await withStore(context, { create: true }, async (store, config) => {
      const tier = tierOf(config, flags.text("tier"));
      const admin = flags.has("admin");
      return created(
        await accountStore(store).createAccount({
          email,
          username,
          tier: tier.id,
          passwordHash: await hashPassword(password),
          emailVerified: flags.has("verified"),
          admin,
          ...planStart({ nowMs: nowMs(), trialMs: tier.trialMs, untilMs, admin }),
        }),
        { email, username },
      );
    });
    printRecord(context, { ...named(account), ...(given === undefined ? { password } : {}) });
    return 0;
  },
};

const list: Command = {
  summary: "list the accounts",
  examples: ["sallyport account list --json"],
  async run(context) {
    const rows = await withStore(context, { create: false }, async (store) => {
      const accounts = accountStore(store);
      const all: Account[] = [];
      for (;;) {
        const page = await accounts.listAccounts({ afterId: all.at(-1)?.id ?? "" });
        all.push(...page);
        if (page.length === 0) return all.map(shown);
      }
    });
    printRows(context, rows, { none: "No accounts yet." });
    return 0;
  },
};

const setTier: Command = {
  summary: "change the plan of an account",
  examples: ["sallyport account set-tier --email ada@example.com --tier premium --until 2030-01-01"],
  usage: "--email E --tier T [--until ISO]",
  options: [EMAIL, { ...TIER, summary: "the plan" }, UNTIL],
  details: "The plan is set explicitly from now on: a running trial ends.",
  run: (context) => {
    const tierName = context.flags.required("tier");
    const untilMs = timeFlag(context.flags, "until");
    return change(context, async ({ accounts, account, config }) => {
      const tier = tierOf(config, tierName).id;
      await accounts.updateAccount(account.id, { tier, trialEndsAtMs: null, subscriptionUntilMs: untilMs ?? null });
      return { ...named(account), tier, subscription_until: isoTime(untilMs ?? null) };
    });
  },
};

const setBudget: Command = {
  summary: "set the budget of an account, which replaces its plan's",
  examples: ["sallyport account set-budget --email ada@example.com --usd 20 --period 30d"],
  usage: "--email E (--usd N [--period 30d] | --none | --plan)",
  options: [
    EMAIL,
    { name: "usd", value: "N", summary: "the budget in US dollars for all its keys together" },
    { name: "period", value: "TIME", summary: "the budget renews after each period, such as 30d (default: never)" },
    { name: "none", summary: "no limit, whatever the plan says" },
    { name: "plan", summary: "return to the plan's budget" },
  ],
  details: "Another amount for the same period keeps the amount spent; any other change restarts the count.",
  run: (context) => {
    const { flags } = context;
    const usd = flags.text("usd");
    const period = flags.text("period");
    const given = [usd !== undefined, flags.has("none"), flags.has("plan")].filter(Boolean).length;
    if (given !== 1) throw new UsageError("one of --usd, --none and --plan is required");
    if (period !== undefined && usd === undefined) throw new UsageError("--period needs --usd");
    const terms =
      usd === undefined ? null : { limitMicros: microsOf("usd", usd), periodMs: periodOf("period", period) };
    return change(context, async ({ account, store, config }) => {
      const budgets = accountBudgetStore(store);
      if (flags.has("plan")) await budgets.clearAccountBudget(account.id);
      else await budgets.setAccountBudget(account.id, terms);
      const plan = isTierId(account.tier) ? tierGrants(config)[account.tier].budget : undefined;
      const now = await budgets.findAccountBudget(account.id, plan);
      if (now !== undefined) await noteUnpriced(context, config, account.tier);
      return {
        ...named(account),
        budget_usd: now === undefined ? null : now.limitMicros / MICROS_PER_USD,
        spent_usd: now === undefined ? null : now.spentMicros / MICROS_PER_USD,
        budget_period_seconds: now?.periodMs == null ? null : now.periodMs / 1000,
        budget_of: now === undefined ? null : now.own ? "account" : "plan",
        resets_at: isoTime(now?.resetsAtMs ?? null),
      };
    });
  },
};

const setPassword: Command = {
  summary: "set an account's password and end its sessions",
  examples: ["sallyport account set-password --email ada@example.com --password-stdin < password.txt"],
  usage: "--email E --password-stdin [--revoke-keys]",
  options: [EMAIL, PASSWORD_STDIN, { name: "revoke-keys", summary: "revoke the account's API keys too" }],
  details:
    "Sign-in providers of an account whose address is not verified are unlinked: whoever made it may not own the address.",
  async run(context) {
    if (!context.flags.has("password-stdin")) throw new UsageError("--password-stdin is required");
    context.flags.required("email");
    const passwordHash = await hashPassword(await readPassword(context));
    return change(context, async ({ accounts, account, store }) => {
      await accounts.updateAccount(account.id, { passwordHash });
      // Ends the sessions, mailed links and pending sign-ins of anyone who knew the old password.
      await sessionStore(store).revokeAllSessions(account.id);
      await codeStore(store).dropTickets(account.id);
      if (!account.emailVerified) await identityStore(store).unlinkAllIdentities(account.id);
      // No key is created automatically: the operator creates keys for programs, and knows for whom the account is.
      if (!context.flags.has("revoke-keys")) return named(account);
      return { ...named(account), keys_revoked: await keyStore(store).revokeAllKeys(account.id) };
    });
  },
};

const remove: Command = {
  summary: "delete an account and all its data",
  examples: ["sallyport account delete --email ada@example.com --yes"],
  usage: "--email E --yes",
  options: [EMAIL, { name: "yes", summary: "confirm; this cannot be undone" }],
  run: (context) => {
    context.flags.required("email");
    if (!context.flags.has("yes")) throw new UsageError("--yes is required: deleting an account cannot be undone");
    return change(context, async ({ accounts, account }) => {
      await accounts.deleteAccount(account.id);
      return { ...named(account), deleted: true };
    });
  },
};

/** `sallyport account`. */
export const account: CommandGroup = {
  summary: "create and manage accounts",
  verbs: { create, list, "set-tier": setTier, "set-budget": setBudget, "set-password": setPassword, delete: remove },
};

type Row = Readonly<Record<string, unknown>>;

interface Found {
  readonly accounts: AccountStore;
  readonly account: Account;
  readonly store: Store;
  readonly config: Config;
}

/** Finds the account of `--email`, changes it and prints the result. */
async function change(context: Context, work: (found: Found) => Promise<Row>): Promise<number> {
  const email = context.flags.required("email");
  const row = await withStore(context, { create: false }, async (store, config) => {
    const accounts = accountStore(store);
    const found = await accounts.findAccountByEmail(email);
    if (found === undefined) throw failure(`there is no account with the e-mail address ${email}`);
    return work({ accounts, account: found, store, config });
  });
  printRecord(context, row);
  return 0;
}

function checked(value: string, flag: string, fault: (value: string) => string | undefined): string {
  const text = value.trim();
  const problem = fault(text);
  if (problem !== undefined) throw new UsageError(`${flag}: ${problem}`);
  return text;
}

async function readPassword(context: Context): Promise<string> {
  const password = (await context.readStdin()).replace(/\r?\n$/, "");
  const fault = passwordFault(password);
  if (fault !== undefined) throw failure(fault);
  return password;
}

function tierOf(config: Config, name: string | undefined): TierConfig {
  const tier = name === undefined ? config.tiers[0] : config.tiers.find(({ id }) => id === name);
  if (tier === undefined) {
    throw failure(`unknown tier "${name ?? ""}": expected one of ${config.tiers.map(({ id }) => id).join(", ")}`);
  }
  return tier;
}

function created(result: Awaited<ReturnType<AccountStore["createAccount"]>>, wanted: Row): Account {
  if (!("refused" in result)) return result;
  if (result.refused === "email_taken") throw failure(`the e-mail address ${wanted["email"]} is taken`);
  throw failure(`the user name ${wanted["username"]} is taken`);
}

function named({ id, email, username, tier }: Account): Row {
  return { id, email, username, tier };
}

function shown(row: Account): Row {
  return {
    ...named(row),
    email_verified: row.emailVerified,
    admin: row.admin,
    trial_ends_at: isoTime(row.trialEndsAtMs),
    subscription_until: isoTime(row.subscriptionUntilMs),
    created_at: isoTime(row.createdAtMs),
  };
}
