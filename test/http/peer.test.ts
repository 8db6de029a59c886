import { expect, test } from "bun:test";
import { TrustedProxies } from "../../src/http/peer.ts";

const forwarded = { headers: { "x-forwarded-for": "203.0.113.7" } };

test.each([
  ["one of ours", "10.1.2.3", forwarded, true],
  ["one of ours in a dual-stack socket", "::ffff:10.1.2.3", forwarded, true],
  ["one on this machine", "127.0.0.1", forwarded, true],
  ["one on this machine by IPv6", "::1", forwarded, true],
  ["a stranger who says so", "203.0.113.9", forwarded, false],
  ["one of ours for itself", "10.1.2.3", {}, false],
])("a request through a proxy: %s", (_, connected, init, expected) => {
  const proxies = new TrustedProxies(["10.0.0.0/8"]);
  expect(proxies.isProxied(new Request("http://x/", init), { addressOf: () => connected })).toBe(expected);
});
