// The list of commands: one line each. Code is imported only when its command runs, so that `serve` starts without the code
// of the others.

import type { Command, CommandGroup } from "./command.ts";

/** A command as the list knows it, before its code is loaded. */
export interface Listed {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command | CommandGroup>;
}

/** Every command, in the order of `--help`. */
export const COMMANDS: readonly Listed[] = [
  {
    name: "init",
    summary: "write a first configuration, create the first account and its key",
    load: async () => (await import("./init.ts")).initCommand,
  },
  {
    name: "doctor",
    summary: "check configuration, database, browser and providers",
    load: async () => (await import("./doctor.ts")).doctorCommand,
  },
  {
    name: "config",
    summary: "print the loaded configuration with the source of each value",
    load: async () => (await import("./config.ts")).configCommand,
  },
  {
    name: "serve",
    summary: "run the gateway",
    load: async () => (await import("./serve.ts")).serveCommand,
  },
  {
    name: "up",
    summary: "quick start: account, key and a running gateway",
    load: async () => (await import("./up.ts")).upCommand,
  },
  {
    name: "account",
    summary: "create and manage accounts",
    load: async () => (await import("./account.ts")).account,
  },
  {
    name: "key",
    summary: "create and manage API keys",
    load: async () => (await import("./key.ts")).key,
  },
  {
    name: "project",
    summary: "create and manage projects, groups of keys with limits of their own",
    load: async () => (await import("./project.ts")).project,
  },
  {
    name: "logs",
    summary: "show the request log, and follow it",
    load: async () => (await import("./logs.ts")).logsCommand,
  },
  {
    name: "scrape",
    summary: "read one web page as Markdown",
    load: async () => (await import("./scrape.ts")).scrapeCommand,
  },
  {
    name: "crawl",
    summary: "read a site as Markdown",
    load: async () => (await import("./crawl.ts")).crawlCommand,
  },
  {
    name: "map",
    summary: "list the addresses of a site",
    load: async () => (await import("./map.ts")).mapCommand,
  },
  {
    name: "llmstxt",
    summary: "write the llms.txt of a site",
    load: async () => (await import("./llmstxt.ts")).llmstxt,
  },
  {
    name: "extract",
    summary: "extract data from web pages",
    load: async () => (await import("./extract.ts")).extractCommand,
  },
  {
    name: "search",
    summary: "search the web",
    load: async () => (await import("./search.ts")).searchCommand,
  },
  {
    name: "mcp",
    summary: "serve the web tools to an agent over stdin and stdout",
    load: async () => (await import("./mcp.ts")).mcpCommand,
  },
  {
    name: "backup",
    summary: "copy the database, secrets and uploads into one file",
    load: async () => (await import("./backup.ts")).backupCommand,
  },
  {
    name: "restore",
    summary: "restore a backup into an empty data directory or database",
    load: async () => (await import("./backup.ts")).restoreCommand,
  },
  {
    name: "migrate-database",
    summary: "copy everything from SQLite to PostgreSQL, or back",
    load: async () => (await import("./migrate-database.ts")).migrateDatabaseCommand,
  },
  {
    name: "setup-link",
    summary: "print the one-time link of the first sign-up",
    load: async () => (await import("./setup-link.ts")).setupLinkCommand,
  },
  {
    name: "calibrate",
    summary: "fit a decision model's calibration to labelled rows",
    load: async () => (await import("./calibrate.ts")).calibrateCommand,
  },
  {
    name: "decisions",
    summary: "list decision models and move their aliases",
    load: async () => (await import("./decisions.ts")).decisions,
  },
  {
    name: "models",
    summary: "renew the prices and limits of models",
    load: async () => (await import("./models.ts")).models,
  },
  {
    name: "cache",
    summary: "delete answers kept for equal requests",
    load: async () => (await import("./cache.ts")).cacheCommand,
  },
  {
    name: "guardrail",
    summary: "measure the guardrails of the configuration",
    load: async () => (await import("./guardrail.ts")).guardrailCommand,
  },
  {
    name: "openapi",
    summary: "print the OpenAPI document",
    load: async () => (await import("./openapi.ts")).openapi,
  },
  {
    name: "import",
    summary: "convert the configuration of another gateway",
    load: async () => (await import("./import.ts")).importCommand,
  },
  {
    name: "healthcheck",
    summary: "exit 0 if the gateway answers",
    load: async () => (await import("./healthcheck.ts")).healthcheckCommand,
  },
  {
    name: "service",
    summary: "have systemd or launchd run the gateway",
    load: async () => (await import("./service-install.ts")).service,
  },
  {
    name: "licenses",
    summary: "print the licences of the program and of the packages inside it",
    load: async () => (await import("./licenses.ts")).licensesCommand,
  },
];

/** Runs if the arguments name no command. */
export const DEFAULT_COMMAND = "serve";
