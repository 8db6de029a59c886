// `sallyport up`: the first minute. Makes the admin account and a key where there is none, shows how to use them, serves.
// `--once` asks the built-in demo model one question through the gateway's own HTTP edge and ends.

import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/schema.ts";
import { accountStore } from "../store/accounts.ts";
import { keyStore } from "../store/keys.ts";
import { openStore } from "../store/open.ts";
import type { Command } from "./command.ts";
import { CommandError } from "./failure.ts";
import { createFirstAccount, type FirstAccount } from "./first-account.ts";
import { LISTEN_OPTIONS, listenFlags, loggerOf, start, untilStopped } from "./serve.ts";

const QUESTION = "Hello from Sallyport, is anybody there?";

export const up: Command = {
  summary: "first minute: account, key, and the gateway running",
  usage: "[--once] [--host H] [--port N]",
  options: [
    ...LISTEN_OPTIONS,
    { name: "once", summary: "ask the demo model one question through the gateway, then exit" },
  ],
  async run(context) {
    const once = context.flags.has("once");
    // One question must not fail because something else listens on the usual port.
    const live = context.liveConfig(once ? { port: 0, ...listenFlags(context.flags) } : listenFlags(context.flags));
    const made = await firstAccount(live.get(), once);
    const log = loggerOf(live);
    if (once) log.setLevel("warn");
    const app = await start(live, log);
    if (made !== undefined) context.err(welcome(made, app.url));
    if (!once) {
      context.out(`sallyport listening on ${app.url}\n`);
      return await untilStopped(app, live, log);
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
  /** Undefined where the account was there before. */
  account: FirstAccount | undefined;
  key: string;
}

/** The admin account and a key where there is no account yet; with `always`, a key in any case. */
async function firstAccount(config: Config, always: boolean): Promise<Made | undefined> {
  const store = openStore({ dataDir: config.dataDir });
  try {
    const account = await createFirstAccount(store, config);
    if (account !== undefined) return { account, key: account.key };
    if (!always) return undefined;
    const [first] = await accountStore(store).listAccounts({ limit: 1 });
    if (first === undefined) return undefined;
    // Good for the one question only.
    const expiresAtMs = systemClock.now() + 60_000;
    const { key } = await keyStore(store).createKey({ accountId: first.id, name: "up --once", expiresAtMs });
    return { account: undefined, key };
  } finally {
    store.close();
  }
}

function welcome({ account, key }: Made, url: string): string {
  if (account === undefined) return "";
  return `
  Your admin account   ${account.username}  (e-mail ${account.email})
  Password             ${account.password}
  API key              ${key}
  Both are shown this once.

  Try it:

  curl ${url}/v1/chat/completions \\
    -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
    -d '{"model":"demo-echo","messages":[{"role":"user","content":"Hello!"}]}'

`;
}

async function ask(url: string, key: string): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "demo-echo", messages: [{ role: "user", content: QUESTION }] }),
  });
  const body = (await response.json()) as { choices?: { message: { content: string } }[]; error?: { message: string } };
  const answer = body.choices?.[0]?.message.content;
  if (answer === undefined)
    throw new CommandError(`sallyport: the demo model did not answer: ${body.error?.message ?? response.status}`);
  return answer;
}
