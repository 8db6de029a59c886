// A new signing secret: tokens signed with the old one stay valid until they expire, over a reload and a restart.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { type AccountsApp, startAccountsApp } from "./support.ts";

const MINUTE = 60_000;
const withSecret = (jwt_secret: string) => ({ auth: { jwt_secret } });

let app: AccountsApp;
beforeAll(async () => {
  app = await startAccountsApp();
  await app.addAccount("kira");
});
afterAll(() => app.stop());

const me = async (as: string) => {
  const { status, json } = await app.ask("GET", "/v1/auth/me", { as });
  return json.error?.code ?? status;
};
const kidOf = (token: string) => JSON.parse(Buffer.from(token.split(".")[0]!, "base64url").toString()).kid;

test("each key goes on verifying what it signed, and only while that may live", async () => {
  const made = (await app.signIn("kira")).access_token;
  await app.app.reconfigure(withSecret("the first secret of the operator"));
  // The ring is stored before the new key signs.
  let first = (await app.signIn("kira")).access_token;
  while (kidOf(first) === kidOf(made)) first = (await app.signIn("kira")).access_token;
  expect(await me(made)).toBe(200);
  await app.app.restart(withSecret("the second secret of the operator"));
  const second = (await app.signIn("kira")).access_token;
  expect(new Set([made, first, second].map(kidOf)).size).toBe(3);
  expect(await Promise.all([made, first, second].map(me))).toEqual([200, 200, 200]);
  await app.app.restart(withSecret("the second secret of the operator"));
  expect(await Promise.all([made, first, second].map(me))).toEqual([200, 200, 200]);
  app.clock.advance(15 * MINUTE);
  const codes = await Promise.all([made, first, second].map(me));
  expect(codes[2]).toBe("expired_token");
  for (const code of codes.slice(0, 2)) expect(["expired_token", "invalid_token"]).toContain(code);
  expect(await me((await app.signIn("kira")).access_token)).toBe(200);
});

test("the secrets are the owner's alone", () => {
  expect(statSync(join(app.app.dataDir, "secrets.json")).mode & 0o777).toBe(0o600);
});
