// A proxy that is not listed as trusted and sends proxy headers is reported once.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { openStore } from "../../src/store/engine/open.ts";
import { settingsStore, UNTRUSTED_PROXY_SETTING } from "../../src/store/settings.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ config: { server: { trusted_proxies: ["10.0.0.0/8"] } } });
});
afterAll(() => app.stop());

const login = (headers: Record<string, string>) =>
  app.post("/v1/auth/token", { username: "nobody", password: "not a password of anybody" }, headers);
const warnings = async () => {
  await app.flushLogs();
  return app.logs.filter(({ level, msg }) => level === "warn" && String(msg).startsWith("X-Forwarded-For"));
};

test("forwarded headers of an unknown peer cause one warning, and another after the configuration changed", async () => {
  await login({});
  expect(await warnings()).toEqual([]);
  for (let n = 0; n < 3; n++) await login({ "x-forwarded-for": "203.0.113.7" });
  expect(await warnings()).toMatchObject([{ peer: "127.0.0.1" }]);
  const store = openStore({ dataDir: app.dataDir, create: false });
  expect(await settingsStore(store).readSetting(UNTRUSTED_PROXY_SETTING)).toMatchObject({ peer: "127.0.0.1" });
  store.close();
  await app.reconfigure({ server: { trusted_proxies: ["127.0.0.1"] } });
  await login({ "x-forwarded-for": "203.0.113.7" });
  expect(await warnings()).toHaveLength(1);
  await app.reconfigure({});
  await login({ "x-forwarded-for": "203.0.113.7" });
  expect(await warnings()).toHaveLength(2);
});
