// `sallyport setup-link`: the one-time link of the first sign-up.

import { setupLink, setupToken } from "../accounts/setup.ts";
import type { Config } from "../config/schema.ts";
import { linkOf } from "../http/listen.ts";
import { accountStore } from "../store/access/accounts.ts";
import { isServing } from "../store/engine/serve-lock.ts";
import type { Store } from "../store/engine/store.ts";
import { secretStore } from "../store/secrets.ts";
import { LISTENING_SETTING, settingsStore } from "../store/settings.ts";
import type { Command } from "./command.ts";
import { failure, printRecord, withStore } from "./workspace.ts";

/** Prints the link while there is no account. */
export const setupLinkCommand: Command = {
  summary: "print the one-time link of the first sign-up",
  examples: ["sallyport setup-link --data-dir /var/lib/sallyport"],
  async run(context) {
    const link = await withStore(context, { create: true }, async (store, config) => {
      const token = await setupToken({ ...accountStore(store), ...secretStore(store) });
      if (token === undefined) throw failure("there is an account already: sign up or sign in at the dashboard");
      return setupLink(await dashboardUrl(store, config), token);
    });
    if (context.flags.has("json")) printRecord(context, { url: link });
    else context.out(`${link}\n`);
    return 0;
  },
};

async function dashboardUrl(store: Store, { server, dataDir, database }: Config): Promise<string> {
  if (server.dashboardUrl !== "") return server.dashboardUrl;
  if (server.publicUrl !== "") return `${server.publicUrl.replace(/\/+$/, "")}/dashboard`;
  // A running server may use another port than the configured one.
  const running =
    database.url !== "" || isServing(dataDir) ? await settingsStore(store).readSetting(LISTENING_SETTING) : undefined;
  return `${typeof running === "string" ? running : linkOf(server.host, server.port)}/dashboard`;
}
