// `sallyport up`: for the first minutes. Serves, creates the admin account and a key if there is none, and shows how to use
// them. `--once` asks the built-in demo model one question through the gateway's own HTTP edge and ends.

import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/schema.ts";
import { accountStore } from "../store/access/accounts.ts";
import { keyStore } from "../store/access/keys.ts";
import { openDatabase } from "../store/engine/database.ts";
import { isEmbedded } from "../vendors/protocols.ts";
import type { Command } from "./command.ts";
import { CommandError } from "./failure.ts";
import { createFirstAccount, type FirstAccount } from "./first-account.ts";
import { LISTEN_OPTIONS, listenFlags, openLog, start, untilStopped } from "./serve.ts";

const QUESTION = "Hello from Sallyport, is anybody there?";

export const upCommand: Command = {
  summary: "quick start: account, key and a running gateway",
  examples: ["sallyport up", "sallyport up --once"],
  usage: "[--once] [--host H] [--port N]",
  options: [
    ...LISTEN_OPTIONS,
    { name: "once", summary: "ask the demo model one question through the gateway, then exit" },
  ],
  usesProviders: true,
  async run(context) {
    const once = context.flags.has("once");
    // One question must not fail because another program listens on the default port.
    const live = context.liveConfig(once ? { port: 0, ...listenFlags(context.flags) } : listenFlags(context.flags));
    const { log, reopen } = openLog(live);
    if (once) log.setLevel("warn");
    // The gateway listens before the account is created: a failed start must not leave an account whose password was never
    // shown.
    const app = await start(live, log);
    let made: Made | undefined;
    try {
      made = await firstAccount(live.get(), once);
      context.err(made?.account === undefined ? "" : welcome(made.account, app, providersOf(live.get())));
    } catch (error) {
      await app.stop(0);
      throw error;
    }
    if (!once) {
      if (made === undefined) context.err(welcomeBack(app, providersOf(live.get())));
      context.out(`sallyport listening on ${app.url}\n`);
      return await untilStopped(app, live, { log, reopen });
    }
    try {
      const answer = await ask(app.url, made?.key ?? "");
      context.out(`> ${QUESTION}\n${answer}\n`);
    } finally {
      await app.stop(0);
    }
    return 0;
  },
};

interface Made {
  /** Undefined if the account existed before. */
  account: FirstAccount | undefined;
  key: string;
}

/** The admin account and a key if there is no account yet; with `always`, a key in any case. */
async function firstAccount(config: Config, always: boolean): Promise<Made | undefined> {
  const store = await openDatabase(config);
  try {
    const account = await createFirstAccount(store, config);
    if (account !== undefined) return { account, key: account.key };
    if (!always) return undefined;
    const [first] = await accountStore(store).listAccounts({ limit: 1 });
    if (first === undefined) return undefined;
    // Valid for this one question only.
    const expiresAtMs = systemClock.now() + 60_000;
    const { key } = await keyStore(store).createKey({ accountId: first.id, name: "up --once", expiresAtMs });
    return { account: undefined, key };
  } finally {
    await store.close();
  }
}

/** Who answers besides the demo model: a variable that is misspelt would show nowhere else. */
function providersOf({ providers }: Config): string {
  const names = providers.filter((one) => !isEmbedded(one)).map(({ name }) => name);
  return names.length === 0 ? "none yet: only the demo model answers" : names.join(", ");
}

function welcome(
  { username, email, password, key }: FirstAccount,
  { url, dashboardUrl }: Addresses,
  providers: string,
): string {
  return `
  Your admin account   ${username}  (e-mail ${email})
  Password             ${password}
  API key              ${key}
  Dashboard            ${dashboardUrl}
  Providers            ${providers}
  Save the password and the key: they are not shown again.

  Try it:

${curlLine(url, key)}
`;
}

/** The output of a second `up`: keys and passwords are stored as hashes. */
function welcomeBack({ url, dashboardUrl }: Addresses, providers: string): string {
  return `
  Dashboard   ${dashboardUrl}
  Providers   ${providers}
  Keys        make one in the dashboard, or with \`sallyport key create --account EMAIL --name NAME\`

${curlLine(url, "sk-…")}
`;
}

interface Addresses {
  readonly url: string;
  readonly dashboardUrl: string;
}

function curlLine(url: string, key: string): string {
  return `  curl ${url}/v1/chat/completions \\
    -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
    -d '{"model":"demo-echo","messages":[{"role":"user","content":"Hello!"}]}'
`;
}

async function ask(url: string, key: string): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "demo-echo", messages: [{ role: "user", content: QUESTION }] }),
    // It asks itself by its address, while a certificate is for its public name.
    tls: { rejectUnauthorized: false },
  });
  const body = (await response.json()) as { choices?: { message: { content: string } }[]; error?: { message: string } };
  const answer = body.choices?.[0]?.message.content;
  if (answer === undefined)
    throw new CommandError(`sallyport: the demo model did not answer: ${body.error?.message ?? response.status}`);
  return answer;
}
