import { expect, test } from "bun:test";
import { verifyPassword } from "../../src/accounts/passwords/passwords.ts";
import { sha256Hex } from "../../src/base/ids.ts";
import { createFirstAccount } from "../../src/cli/first-account.ts";
import { loadConfig } from "../../src/config/load.ts";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { tempDir } from "../store/support.ts";

test("an admin who can sign in and has a key that lives; a second time there is nothing to make", async () => {
  const dataDir = tempDir();
  const loaded = loadConfig({ env: {}, cwd: dataDir, dataDir });
  if (!loaded.ok) throw new Error(loaded.problems.join());
  const store = openStore({ dataDir });
  try {
    const first = await createFirstAccount(store, loaded.config);
    if (first === undefined) throw new Error("nothing was made");
    const account = await accountStore(store).findAccountByEmail(first.email);
    expect(account).toMatchObject({ admin: true, tier: "premium", trialEndsAtMs: null, emailVerified: true });
    expect(await verifyPassword(first.password, account?.passwordHash ?? "")).toBe(true);
    expect(await keyStore(store).findLiveKey(sha256Hex(first.key))).toMatchObject({ accountId: account?.id });
    expect(first.key).toStartWith("sk-");
    expect(await createFirstAccount(store, loaded.config, { email: "b@x.example", username: "b" })).toBeUndefined();
    expect(await accountStore(store).countAccounts()).toBe(1);
  } finally {
    store.close();
  }
});
