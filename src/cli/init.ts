// `sallyport init`: creates a configuration file, an admin account and a key. Whatever exists already is kept.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { emailFault, usernameFault } from "../accounts/new-account.ts";
import { KNOWN_NAMES } from "../app/names.ts";
import { VALUE_FORMATS } from "../config/formats.ts";
import { configJsonSchemaText, JSON_SCHEMA_FILE } from "../config/json-schema.ts";
import { findPreset, type PresetName } from "../config/presets.ts";
import { type SampleChoices, sampleConfig } from "../config/sample.ts";
import type { Config } from "../config/schema.ts";
import { linkOf } from "../http/listen.ts";
import { accountStore } from "../store/access/accounts.ts";
import { maybeDatabase, openDatabase } from "../store/engine/database.ts";
import type { Command, Context } from "./command.ts";
import { CommandError, UsageError } from "./failure.ts";
import { createFirstAccount } from "./first-account.ts";

/** The limit of attempts to answer one question. */
const TRIES = 3;

/** `sallyport init`. */
export const initCommand: Command = {
  summary: "write a first configuration, create the first account and its key",
  examples: ["sallyport init", "sallyport init --yes --email ada@example.com"],
  usage: "[--yes] [--email E] [--username U]",
  options: [
    { name: "yes", summary: "ask no questions: use the defaults and all keys found in the environment" },
    { name: "email", value: "E", summary: "the first account's e-mail address (default: admin@localhost)" },
    { name: "username", value: "U", summary: "its user name (default: admin)" },
  ],
  details: `Writes the file of --config (default: ./sallyport.yaml) unless it is there, and makes an admin account with one key
unless there is an account. Password and key are shown once.`,
  async run(context) {
    const asks = !context.flags.has("yes");
    if (asks && !context.interactive) throw new UsageError("init asks questions: run it in a terminal, or with --yes");
    const { file, exists, presets } = context.survey();
    if (!exists) writeFiles(file, sampleConfig(await choose(context, presets, asks)));
    const config = context.config();
    // If there is an account, no name and address are needed.
    const who = (await hasAccount(config)) ? undefined : await askWho(context, asks);
    if (who === undefined) noteUnused(context);
    const store = await openDatabase(config);
    try {
      const first = who === undefined ? undefined : await createFirstAccount(store, config, who);
      report(context, { file, wrote: !exists, first, address: linkOf(config.server.host, config.server.port) });
    } finally {
      await store.close();
    }
    return 0;
  },
};

async function hasAccount(config: Config): Promise<boolean> {
  if (!maybeDatabase(config)) return false;
  const store = await openDatabase(config);
  try {
    return (await accountStore(store).countAccounts()) > 0;
  } finally {
    await store.close();
  }
}

/** The flags for the first account are not for a store that has accounts. */
function noteUnused(context: Context): void {
  const unused = ["email", "username"].filter((name) => context.flags.text(name) !== undefined);
  for (const name of unused)
    context.err(
      `sallyport: --${name} ${context.flags.text(name)} was not used: there are accounts already; \`sallyport account create\` makes another\n`,
    );
}

function writeFiles(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(join(dirname(file), JSON_SCHEMA_FILE), configJsonSchemaText(KNOWN_NAMES));
    // The file may later contain keys. "wx" never overwrites a file that was created meanwhile.
    writeFileSync(file, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw new CommandError(
      `sallyport: cannot write ${file}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function choose(context: Context, presets: readonly PresetName[], asks: boolean): Promise<SampleChoices> {
  const dataDir = context.flags.text("data-dir") ?? "./data";
  if (!asks) return { host: "127.0.0.1", port: 8787, dataDir, providers: presets };
  const host = await question(context, "Address to listen on", "127.0.0.1", (text) =>
    VALUE_FORMATS.host.accepts(text) ? undefined : `Expected ${VALUE_FORMATS.host.expected}.`,
  );
  const port = await question(context, "Port", "8787", (text) =>
    /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? undefined : "Expected a number from 0 to 65535.",
  );
  const chosen = await question(context, "Data directory", dataDir, () => undefined);
  const providers: PresetName[] = [];
  for (const name of presets) {
    const answer = await question(
      context,
      `Use ${name} (${findPreset(name)?.variable} is set), yes or no`,
      "yes",
      (text) => (/^(?:y|yes|n|no)$/i.test(text) ? undefined : "Expected yes or no."),
    );
    if (/^y/i.test(answer)) providers.push(name);
  }
  return { host, port: Number(port), dataDir: chosen, providers };
}

async function askWho(context: Context, asks: boolean): Promise<{ email?: string; username?: string }> {
  const given = { email: context.flags.text("email"), username: context.flags.text("username") };
  const rules = { email: emailFault, username: usernameFault };
  const defaults = { email: "admin@localhost", username: "admin" };
  const labels = { email: "E-mail of the admin account", username: "Its user name" };
  const who: { email?: string; username?: string } = {};
  for (const name of ["email", "username"] as const) {
    const flag = given[name];
    const fault = flag === undefined ? undefined : rules[name](flag);
    if (fault !== undefined) throw new UsageError(`--${name}: ${fault}`);
    who[name] = flag ?? (asks ? await question(context, labels[name], defaults[name], rules[name]) : defaults[name]);
  }
  return who;
}

/** Asks until the answer is valid; an empty line is the default. */
async function question(
  context: Context,
  label: string,
  fallback: string,
  fault: (text: string) => string | undefined,
): Promise<string> {
  for (let tries = 0; tries < TRIES; tries++) {
    const line = await context.ask(`${label} [${fallback}]: `);
    if (line === undefined) throw new CommandError("sallyport: the input ended before all questions were answered");
    const answer = line.trim() === "" ? fallback : line.trim();
    const wrong = fault(answer);
    if (wrong === undefined) return answer;
    context.err(`${wrong}\n`);
  }
  throw new CommandError(`sallyport: no valid answer to "${label}"`);
}

interface Outcome {
  readonly file: string;
  readonly wrote: boolean;
  readonly first: Awaited<ReturnType<typeof createFirstAccount>>;
  readonly address: string;
}

function report(context: Context, { file, wrote, first, address }: Outcome): void {
  if (context.flags.has("json")) {
    context.out(`${JSON.stringify({ config: file, wrote, account: first ?? null })}\n`);
    return;
  }
  context.out(wrote ? `Wrote ${file}\n` : `Kept the existing ${file}\n`);
  if (first === undefined) {
    context.out("Kept the existing accounts\n");
    return;
  }
  const { email, username, password, key } = first;
  context.out(`
The first account, an admin. Save the password and the key: they are not shown again.
  e-mail     ${email}
  user name  ${username}
  password   ${password}
  key        ${key}

Start the gateway with \`sallyport\`, then:
  curl ${address}/v1/models -H 'Authorization: Bearer ${key}'
and open ${address}/dashboard
`);
}
