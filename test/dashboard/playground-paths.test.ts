// The request log shows requests of the playground as the endpoint of the public API that answered them.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { loggedEndpoint, PLAYGROUND_PATHS } from "../../src/dashboard/server/playground-paths.ts";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

let app: AccountsApp;
let client: DashboardClient;

beforeAll(async () => {
  app = await startAccountsApp({ config: { usage: { flush: "5ms" }, tiers: { free: { rpm: 1000 } } } });
  await app.addAccount("player");
  client = dashboardClient(app);
  await client.post("/login", { username_or_email: "player", password: PASSWORD });
});
afterAll(() => app.stop());

test.each(Object.entries(PLAYGROUND_PATHS))("%s is logged as %s", async (path, endpoint) => {
  // The endpoint of the public API exists.
  expect((await app.ask("POST", endpoint, { body: {} })).status).toBe(401);
  const id = `walk${path.replaceAll("/", "-")}`;
  const { status } = await client.post(path, {}, { "x-request-id": id });
  expect(status).toBe(400);
  let rows: { endpoint: string; key: string }[] = [];
  while (rows.length === 0) rows = (await client.get(`/log?request=${id}`)).json.data;
  expect(rows[0]).toMatchObject({ endpoint, key: "Playground" });
});

test("other paths stay as they are", () => {
  for (const path of ["/v1/scrape", "/v1/models/*", "/v1/upstream/{provider}/*", "unmatched"])
    expect(loggedEndpoint(path)).toBe(path);
});
