// `sallyport doctor`: checks everything the gateway depends on and says what to do. Changes nothing except that it upgrades
// an older version's database, as any start would.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkSmtp, OUTBOX_DIR } from "../accounts/mail/transport.ts";
import { setInVain } from "../config/not-built.ts";
import type { Config } from "../config/schema.ts";
import { findBrowser, hasSandbox, NO_SANDBOX } from "../pages/browser/browser.ts";
import { openDatabase } from "../store/engine/database.ts";
import { DATABASE_FILE, isSqlite } from "../store/engine/open.ts";
import type { Store } from "../store/engine/store.ts";
import { isEmbedded } from "../vendors/protocols.ts";
import type { Command } from "./command.ts";
import { checkAlerts } from "./doctor-alerts.ts";
import { checkBudgets, checkPriceList } from "./doctor-budgets.ts";
import { checkDecisions } from "./doctor-decisions.ts";
import { checkEngines } from "./doctor-engines.ts";
import { checkMcpServers } from "./doctor-mcp.ts";
import { type Finding, probeProvider } from "./doctor-provider.ts";
import { checkProxy } from "./doctor-proxy.ts";
import { checkRedis } from "./doctor-redis.ts";
import { CommandError, UsageError } from "./failure.ts";
import { ONLY_DEMO as ONLY_DEMO_ANSWERS } from "./workspace.ts";

/** `sallyport doctor`. */
export const doctorCommand: Command = {
  summary: "check configuration, database, browser and providers",
  examples: ["sallyport doctor", "sallyport doctor --engines duckduckgo --json"],
  usage: "[--engines [NAME]]",
  args: [0, 1],
  options: [{ name: "engines", summary: "check search engines instead: all that are enabled, or the one named" }],
  details: "Exits 0 when nothing failed. Warnings are not failures.",
  usesProviders: true,
  async run(context) {
    const [engine] = context.args;
    if (context.flags.has("engines")) return checkEngines(context, engine);
    if (engine !== undefined)
      throw new UsageError(`unexpected argument: ${engine} (a search engine? then with --engines)`);
    const findings: Finding[] = [];
    const add = (finding: Finding) => {
      findings.push(finding);
      if (!context.flags.has("json")) {
        context.out(`${finding.status.padEnd(7)}  ${finding.name.padEnd(20)}  ${finding.message}\n`);
      }
    };
    try {
      const live = context.liveConfig();
      const config = live.get();
      const { file, exists } = context.survey();
      add({ name: "config", status: "ok", message: exists ? file : "no file: defaults and the environment" });
      for (const message of live.warnings()) add({ name: "config", status: "warning", message });
      for (const key of setInVain(config))
        add({ name: "config", status: "warning", message: `${key} is set, but has no effect yet` });
      const database = await checkDatabase(config);
      add(database);
      for (const finding of await checkRedis(config)) add(finding);
      add(checkBrowser(config.web));
      add(await checkMail(config));
      for (const finding of await checkAlerts(config)) add(finding);
      if (config.providers.every(isEmbedded)) add(ONLY_DEMO);
      for (const finding of await Promise.all(config.providers.map(probeProvider))) add(finding);
      for (const finding of await checkMcpServers(config)) add(finding);
      for (const finding of await checkDecisions(config)) add(finding);
      for (const finding of checkPriceList(config)) add(finding);
      for (const finding of await checkBudgets(config)) add(finding);
      if (database.status === "ok") for (const finding of await checkProxy(config)) add(finding);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      for (const message of error.message.split("\n")) add({ name: "config", status: "failed", message });
    }
    const ok = findings.every(({ status }) => status !== "failed");
    if (context.flags.has("json")) context.out(`${JSON.stringify({ ok, checks: findings })}\n`);
    else context.out(summaryOf(findings));
    return ok ? 0 : 1;
  },
};

/** The last line: the number of problems. */
function summaryOf(findings: readonly Finding[]): string {
  const count = (status: Finding["status"]) => findings.filter((finding) => finding.status === status).length;
  const [failed, warnings] = [count("failed"), count("warning")];
  if (failed + warnings === 0) return "\nEverything is in order.\n";
  const things = failed + warnings === 1 ? "1 thing to do" : `${failed + warnings} things to do`;
  return `\n${things}: ${failed} failed, ${warnings} to consider.\n`;
}

const ONLY_DEMO: Finding = {
  name: "providers",
  status: "warning",
  message: ONLY_DEMO_ANSWERS,
};

async function checkMail({ email, dataDir }: Config): Promise<Finding> {
  const name = "mail";
  if (email.smtpUrl === "") {
    return {
      name,
      status: "ok",
      message: `no SMTP server (email.smtp_url): mails are written to ${join(dataDir, OUTBOX_DIR)}`,
    };
  }
  const fault = await checkSmtp(email.smtpUrl);
  if (fault === undefined) return { name, status: "ok", message: "the SMTP server accepts mail" };
  return { name, status: "failed", message: `the SMTP server of email.smtp_url does not accept mail: ${fault}` };
}

async function checkDatabase(config: Config): Promise<Finding> {
  const name = "database";
  const { dataDir, database } = config;
  if (database.url !== "") return checkPostgres(config);
  const path = join(dataDir, DATABASE_FILE);
  try {
    if (!existsSync(path)) {
      accessSync(nearestDirectory(dataDir), constants.W_OK);
      return { name, status: "ok", message: `none yet; the first start creates ${path}` };
    }
    const store = await openDatabase(config, { create: false });
    try {
      await store.ping();
      const damage = damageOf(store);
      if (damage === undefined) return { name, status: "ok", message: path };
      const message = `${path} is damaged: ${damage}. Stop the program and restore a backup: \`sallyport restore --help\``;
      return { name, status: "failed", message };
    } finally {
      await store.close();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { name, status: "failed", message: `${reason}: check data_dir and the owner of ${dataDir}` };
  }
}

/** What is wrong in the file of a database that opens; undefined for a sound one. Reads the whole file. */
function damageOf(store: Store): string | undefined {
  if (!isSqlite(store)) return undefined;
  try {
    return store.integrityCheck()[0];
  } catch (error) {
    // SQLite gives up where it cannot read on.
    return error instanceof Error ? error.message : String(error);
  }
}

async function checkPostgres(config: Config): Promise<Finding> {
  const name = "database";
  const { hostname, pathname } = new URL(config.database.url);
  const place = `PostgreSQL at ${hostname}${pathname}`;
  try {
    const store = await openDatabase(config);
    try {
      const { liveNodes } = await import("../store/engine/postgres/nodes.ts");
      const nodes = (await liveNodes(store)).map((node) => `${node.name} (${node.version})`);
      return {
        name,
        status: "ok",
        message: `${place}; ${nodes.length > 0 ? nodes.join(", ") : "no node"} uses it`,
      };
    } finally {
      await store.close();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { name, status: "failed", message: `${place}: ${reason} (database.url)` };
  }
}

function nearestDirectory(path: string): string {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  if (!statSync(at).isDirectory()) throw new Error(`${at} is not a directory`);
  return at;
}

/** A missing browser is a warning: only pages that need one fail without it. */
function checkBrowser({ render, browser }: Config["web"]): Finding {
  const name = "browser";
  if (render === "never") return { name, status: "ok", message: "not needed (web.render: never)" };
  if (browser.endpoint !== "") return { name, status: "ok", message: `remote (web.browser.endpoint)` };
  const there = (path: string): Finding =>
    hasSandbox()
      ? { name, status: "ok", message: path }
      : { name, status: "warning", message: `${path}: ${NO_SANDBOX}` };
  if (browser.executable !== "") {
    if (existsSync(browser.executable)) return there(browser.executable);
    const message = `web.browser.executable: there is no ${browser.executable}`;
    return { name, status: "warning", message };
  }
  const found = findBrowser("");
  if (found !== undefined) return there(found);
  const message = "no Chromium found: pages that need a browser will fail; install one or set web.browser.executable";
  return { name, status: "warning", message };
}
