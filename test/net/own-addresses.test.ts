import { describe, expect, test } from "bun:test";
import { parseAddress } from "../../src/base/ip-address.ts";
import {
  type AddressGuard,
  type AddressPolicy,
  BlockedAddress,
  createAddressGuard,
} from "../../src/net/address-guard.ts";

const CLOSED: AddressPolicy = { allowPrivateNetworks: false, allowHosts: [], ports: [] };
/** All names resolve to a public address. Literal addresses resolve to themselves. */
const resolve = async (host: string) => [parseAddress(host) === undefined ? "93.184.216.34" : host];

describe("the machine's own addresses", () => {
  const OWN = ["93.184.216.34", "2606:2800:220:1::1", "fe80::1%eth0"];
  const judge = (url: string, policy: Partial<AddressPolicy> = {}) =>
    createAddressGuard({ ...CLOSED, ...policy }, resolve, () => OWN)
      .check(url)
      .then(
        () => "passed",
        (error: unknown) => (error instanceof BlockedAddress ? error.reason : String(error)),
      );

  test.each([
    "http://93.184.216.34/",
    "http://93.184.216.34:8080/",
    "http://0x5db8d822/",
    "http://named.example/",
    "http://[2606:2800:220:1::1]/",
    "http://[2606:2800:220:1:0::1]/",
    "http://[::ffff:93.184.216.34]/",
    "http://[64:ff9b::93.184.216.34]/",
  ])("%s is private", async (url) => expect(await judge(url)).toBe("address"));

  test("those beside them are not", async () => {
    expect(await judge("http://93.184.216.35/")).toBe("passed");
    expect(await judge("http://[2606:2800:220:1::2]/")).toBe("passed");
  });

  test("an operator can allow them", async () => {
    expect(await judge("http://93.184.216.34/", { allowPrivateNetworks: true })).toBe("passed");
    expect(await judge("http://93.184.216.34:81/", { allowHosts: ["93.184.216.34:81"] })).toBe("passed");
    expect(await judge("http://93.184.216.34:82/", { allowHosts: ["93.184.216.34:81"] })).toBe("address");
  });
});

test("webhooks and callers' headers go only where another list allows them", async () => {
  const guard = (policy: Partial<AddressPolicy>) => createAddressGuard({ ...CLOSED, ...policy }, resolve);
  const pages = guard({ allowHosts: ["127.0.0.1"] });
  const all = guard({ allowHosts: ["127.0.0.1"], allowCallerData: ["127.0.0.1:81", "10.0.0.0/8"] });
  const webhook = (one: AddressGuard, url: string) => one.check(url, { purpose: "webhook" });
  await expect(webhook(pages, "http://127.0.0.1/")).rejects.toThrow("web.allow_caller_data");
  await expect(webhook(all, "http://127.0.0.1/")).rejects.toThrow(BlockedAddress);
  expect((await webhook(all, "http://127.0.0.1:81/")).port).toBe(81);
  expect((await webhook(all, "http://10.1.2.3/")).takesCallerData).toBe(true);
  await expect(all.check("http://10.1.2.3/")).rejects.toThrow(BlockedAddress);
  const taken = ["http://127.0.0.1/", "http://127.0.0.1:81/", `http://93.184.216.35/`].map((url) => all.check(url));
  expect((await Promise.all(taken)).map(({ takesCallerData }) => takesCallerData)).toEqual([false, true, true]);
});
