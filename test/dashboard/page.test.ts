// The page and its files: headers, caching and size.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { PAGES } from "../../src/dashboard/contract-pages.ts";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { dashboardClient } from "./support.ts";

let app: AccountsApp;

beforeAll(async () => {
  app = await startAccountsApp();
});
afterAll(() => app.stop());

/** The compressed size of everything that a first visit loads. */
const PAGE_BYTES_MAX = 60_000;

/** Each address of each page, also the former ones. */
const ADDRESSES = Object.values(PAGES).flatMap(({ paths }) => paths.map((path) => path.replaceAll("*", "some-id")));

test.each(["", ...ADDRESSES, "/keys/", "/admin/accounts/some-id/"])("/dashboard%s is the page", async (path) => {
  const { status, headers, text } = await app.ask("GET", `/dashboard${path}`);
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(text).toContain("<!doctype html>");
});

test("what there is no page for says 404, and below the API in JSON", async () => {
  for (const path of ["/no-such-page", "/admin/no-such-page", "/keys/one", "/jobs/one/two", "/threads/one"]) {
    const page = await app.ask("GET", `/dashboard${path}`);
    expect([path, page.status, page.headers.get("content-type")]).toEqual([path, 404, "text/html; charset=utf-8"]);
  }
  const api = await app.ask("GET", "/dashboard/api/no-such-thing");
  expect([api.status, api.json.error.code]).toEqual([404, "route_not_found"]);
  const asset = await app.ask("GET", "/dashboard/assets/none.js");
  expect([asset.status, asset.json.error.code]).toEqual([404, "route_not_found"]);
});

test("everything says what a browser may do with it, refusals too", async () => {
  for (const path of ["", "/no-such-page", "/api/session", "/api/keys", "/api/nothing", "/assets/none.js"]) {
    const { headers } = await app.ask("GET", `/dashboard${path}`);
    const policy = headers.get("content-security-policy") ?? "";
    expect([path, policy.includes("default-src 'none'"), policy.includes("frame-ancestors 'none'")]).toEqual([
      path,
      true,
      true,
    ]);
    expect(policy).not.toContain("unsafe");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("access-control-allow-origin")).toBeNull();
  }
});

test("the answers of the API are compressed for who takes it", async () => {
  await app.addAccount("reader", { admin: true });
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: "reader", password: PASSWORD });
  const read = async (path: string, coding: string) => {
    const response = await fetch(`${app.app.url}/dashboard/api${path}`, {
      headers: { cookie: client.cookie, "accept-encoding": coding },
      decompress: false,
    } as RequestInit);
    const { headers } = response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    const coded = headers.get("content-encoding");
    const json = new TextDecoder().decode(coded === "gzip" ? Bun.gunzipSync(bytes) : bytes);
    const kept = [headers.get("vary"), headers.get("cache-control"), headers.get("content-type")];
    return { coded, size: bytes.length, data: JSON.parse(json), kept };
  };
  const [packed, plain] = [await read("/admin/config", "gzip, br"), await read("/admin/config", "identity")];
  expect([packed.coded, plain.coded]).toEqual(["gzip", null]);
  expect(packed.kept).toEqual(["Accept-Encoding", "no-store", "application/json;charset=utf-8"]);
  expect(packed.data).toEqual(plain.data);
  expect(packed.size).toBeLessThan(plain.size / 4);
  expect((await read("/keys", "gzip")).coded).toBeNull();
});

test("over HTTPS other windows are kept apart too", async () => {
  const opener = async (headers: Record<string, string>) =>
    (await app.ask("GET", "/dashboard", { headers })).headers.get("cross-origin-opener-policy");
  expect(await opener({ "x-forwarded-proto": "https" })).toBe("same-origin");
  // Over plain HTTP browsers ignore the header and log a warning on every page.
  expect(await opener({})).toBeNull();
});

test("the files have their content in their names, are cached for good, and are small", async () => {
  const { text } = await app.ask("GET", "/dashboard");
  const paths = [...text.matchAll(/(?:href|src)="(\/dashboard\/assets\/[^"]+)"/g)].map((match) => match[1] ?? "");
  expect(paths.map((path) => path.replace(/.*\./, "")).sort()).toEqual(["css", "js", "svg"]);
  let bytes = 0;
  for (const path of paths) {
    const packed = await fetch(app.app.url + path, { headers: { "accept-encoding": "gzip" }, decompress: false });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(packed.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    const content = await packed.bytes();
    bytes += content.length;
    const plain = await fetch(app.app.url + path, { headers: { "accept-encoding": "identity" } });
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(await plain.bytes()).toEqual(Bun.gunzipSync(content));
  }
  expect(bytes).toBeLessThan(PAGE_BYTES_MAX);
});

test("nothing in the page is loaded from elsewhere", async () => {
  const { text } = await app.ask("GET", "/dashboard");
  expect(text).not.toMatch(/(?:src|href)="(?!\/dashboard\/)/);
  const style = /href="([^"]+\.css)"/.exec(text)?.[1] ?? "";
  expect((await app.ask("GET", style)).text).not.toMatch(/url\(|@import/);
});

test("data in the page cannot end its element", async () => {
  await app.app.reconfigure({ server: { public_url: "https://x.example/</script><script>alert(1)</script>" } });
  const { text } = await app.ask("GET", "/dashboard");
  expect(text.match(/<script/g)?.length).toBe(2);
  await app.app.reconfigure({});
});

test("the reader's choice of colours is in the first HTML, and nothing else they send", async () => {
  const html = async (cookie: string) => (await app.ask("GET", "/dashboard", { headers: { cookie } })).text;
  expect(await html("sallyport_theme=dark")).toContain('<html lang="en" data-theme="dark">');
  expect(await html('sallyport_theme="><script>')).toContain('<html lang="en">');
});
