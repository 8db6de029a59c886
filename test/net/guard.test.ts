import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { classifyAddress, parseCidr } from "../../src/net/address.ts";
import { BlockedAddress, createGuard, type GuardPolicy } from "../../src/net/guard.ts";
import { createResolve } from "../../src/net/resolve.ts";

const CLOSED: GuardPolicy = { allowPrivateNetworks: false, allowHosts: [], ports: [] };
const PUBLIC = "93.184.216.34";

/** Names resolve to a public address unless they are literals, so that only the spelling decides. */
const resolve = async (host: string) => {
  const literal = await createResolve(["127.0.0.1:1"])(host, AbortSignal.abort()).catch(() => undefined);
  return literal ?? (/localhost$/.test(host) ? ["127.0.0.1"] : [PUBLIC]);
};
const guard = (policy: Partial<GuardPolicy> = {}) => createGuard({ ...CLOSED, ...policy }, resolve);
const reason = (url: string, policy: Partial<GuardPolicy> = {}) =>
  guard(policy)
    .check(url)
    .then(
      () => "passed",
      (error: unknown) => (error instanceof BlockedAddress ? error.reason : String(error)),
    );

const REFUSED: Record<string, string> = {
  "http://127.0.0.1/": "address",
  "http://127.0.0.1:8080/": "address",
  "http://127.1/": "address",
  "http://127.0.1/": "address",
  "http://2130706433/": "address",
  "http://0x7f000001/": "address",
  "http://0x7f.1/": "address",
  "http://017700000001/": "address",
  "http://0177.0.0.1/": "address",
  "http://0177.0.0.0x1/": "address",
  "http://127.0.0.1./": "address",
  "http://①②⑦.⓪.⓪.①/": "address",
  "http://127。0。0。1/": "address",
  "http://１２７.０.０.１/": "address",
  "http://%31%32%37.0.0.1/": "address",
  "http://127.0.0.1%2e/": "address",
  "http:127.0.0.1/": "address",
  "http:\\\\127.0.0.1\\": "address",
  "http:////127.0.0.1/": "address",
  " http://127.0.0.1/ ": "address",
  "ht\ntp://127.0.0.1/": "address",
  "HTTP://127.0.0.1/": "address",
  "http://127.255.255.254/": "address",
  "http://0/": "address",
  "http://0.0.0.0/": "address",
  "http://0.1.2.3/": "address",
  "http://localhost/": "address",
  "http://LOCALHOST/": "address",
  "http://localhost./": "address",
  "http://a.localhost/": "address",
  "http://ｌｏｃａｌｈｏｓｔ/": "address",
  "http://10.0.0.1/": "address",
  "http://167772161/": "address",
  "http://172.16.0.1/": "address",
  "http://172.31.255.255/": "address",
  "http://192.168.1.1/": "address",
  "http://0xc0a80101/": "address",
  "http://100.64.0.1/": "address",
  "http://169.254.1.1/": "address",
  "http://192.0.0.8/": "address",
  "http://192.0.2.1/": "address",
  "http://192.88.99.1/": "address",
  "http://198.18.0.1/": "address",
  "http://198.51.100.7/": "address",
  "http://203.0.113.7/": "address",
  "http://224.0.0.1/": "address",
  "http://240.0.0.1/": "address",
  "http://255.255.255.255/": "address",
  "http://169.254.169.254/latest/meta-data/": "address",
  "http://2852039166/": "address",
  "http://[::ffff:a9fe:a9fe]/": "address",
  "http://metadata.google.internal/": "address",
  "http://metadata.google.internal./": "address",
  "http://168.63.129.16/": "address",
  "http://100.100.100.200/": "address",
  "http://[::]/": "address",
  "http://[::1]/": "address",
  "http://[0:0:0:0:0:0:0:1]/": "address",
  "http://[::ffff:127.0.0.1]/": "address",
  "http://[::ffff:7f00:1]/": "address",
  "http://[::127.0.0.1]/": "address",
  "http://[::ffff:0:127.0.0.1]/": "address",
  "http://[64:ff9b::127.0.0.1]/": "address",
  "http://[64:ff9b::a00:1]/": "address",
  "http://[64:ff9b:1::1]/": "address",
  "http://[2002:7f00:1::]/": "address",
  "http://[2002:a00:1::1]/": "address",
  "http://[2001:0:53aa:64c::1]/": "address",
  "http://[2001:db8::1]/": "address",
  "http://[3fff::1]/": "address",
  "http://[fc00::1]/": "address",
  "http://[fd00:ec2::254]/": "address",
  "http://[fe80::1]/": "address",
  "http://[fec0::1]/": "address",
  "http://[ff02::1]/": "address",
  "http://[100::1]/": "address",
  "http://[5f00::1]/": "address",
  "http://127.0.0.1:6666\\@1.1.1.1/": "port",
  "http://1.1.1.1@127.0.0.1/": "userinfo",
  "http://user:pass@example.com/": "userinfo",
  "http://example.com:25/": "port",
  "http://example.com:6667/": "port",
  "ftp://example.com/": "scheme",
  "file:///etc/passwd": "scheme",
  "data:text/html,x": "scheme",
  "javascript:alert(1)": "scheme",
  "gopher://127.0.0.1/": "scheme",
  "blob:http://127.0.0.1/x": "scheme",
  "view-source:http://127.0.0.1/": "scheme",
  "//127.0.0.1/": "malformed",
  "http://": "malformed",
  "http://[::1": "malformed",
  "http://256.1.1.1/": "malformed",
  "": "malformed",
};

describe("refused spellings", () => {
  for (const [url, why] of Object.entries(REFUSED)) {
    test(JSON.stringify(url), async () => expect(await reason(url)).toBe(why));
  }
});

describe("what passes", () => {
  for (const url of [
    "https://example.com/",
    "http://example.com:8080/a?b#c",
    "http://example.com./",
    "https://münchen.example/",
    "http://1.1.1.1/",
    "http://[2606:4700:4700::1111]/",
    "http://[::ffff:1.1.1.1]/",
    "http://[64:ff9b::1.1.1.1]/",
    "http://172.32.0.1/",
    "http://100.128.0.1/",
  ])
    test(url, async () => expect(await reason(url)).toBe("passed"));
});

describe("the operator's policy", () => {
  const cases: [string, string, Partial<GuardPolicy>, string][] = [
    ["private networks allowed", "http://10.0.0.1/", { allowPrivateNetworks: true }, "passed"],
    ["loopback allowed", "http://[::1]:9999/", { allowPrivateNetworks: true }, "passed"],
    ["metadata stays refused", "http://169.254.169.254/", { allowPrivateNetworks: true }, "address"],
    ["mapped metadata too", "http://[::ffff:169.254.169.254]/", { allowPrivateNetworks: true }, "address"],
    ["listed metadata too", "http://169.254.169.254/", { allowHosts: ["169.254.169.254"] }, "address"],
    ["schemes stay refused", "file:///etc/passwd", { allowPrivateNetworks: true }, "scheme"],
    ["host listed", "http://127.0.0.1:4000/", { allowHosts: ["127.0.0.1"] }, "passed"],
    ["host:port listed", "http://127.0.0.1:4000/", { allowHosts: ["127.0.0.1:4000"] }, "passed"],
    ["another port of it", "http://127.0.0.1:4001/", { allowHosts: ["127.0.0.1:4000"] }, "address"],
    ["port 80 listed", "http://127.0.0.1/", { allowHosts: ["127.0.0.1:80"] }, "passed"],
    ["another host", "http://127.0.0.2:4000/", { allowHosts: ["127.0.0.1"] }, "address"],
    ["CIDR listed", "http://10.1.2.3/", { allowHosts: ["10.0.0.0/8"] }, "passed"],
    ["outside the CIDR", "http://11.1.2.3.4.example/", { allowHosts: ["10.0.0.0/8"], ports: [443] }, "port"],
    ["IPv6 listed", "http://[fd12::1]:81/", { allowHosts: ["fd12::1"] }, "passed"],
    ["IPv6 with port listed", "http://[fd12::1]:81/", { allowHosts: ["[fd12::1]:81"] }, "passed"],
    ["ports restricted", "http://example.com:8080/", { ports: [80, 443] }, "port"],
    ["unsafe ports stay refused", "http://127.0.0.1:22/", { allowHosts: ["127.0.0.1:22"] }, "port"],
  ];
  for (const [name, url, policy, expected] of cases)
    test(name, async () => expect(await reason(url, policy)).toBe(expected));

  const METADATA = [
    "169.254.169.254",
    "169.254.169.253",
    "169.254.170.2",
    "169.254.170.23",
    "169.254.42.42",
    "169.254.0.23",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "2852039166",
    "0xA9.0xFE.0xA9.0xFE",
    "[fd00:ec2::254]",
    "[fd00:ec2::23]",
    "[fd20:ce::254]",
    "[fd00:42::42]",
    "[::ffff:169.254.169.254]",
    "[::169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::1]",
    "[fe80::a9fe:a9fe]",
    "[::ffff:100.100.100.200]",
    "metadata.google.internal",
    "METADATA.Google.Internal.",
    "metadata.goog",
    "metadata",
    "instance-data",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
  ];
  for (const host of METADATA)
    test(`${host} stays refused whatever is allowed`, async () => {
      const all = { allowPrivateNetworks: true, allowHosts: [host, "0.0.0.0/0", "::/0"] };
      expect(await reason(`http://${host}/latest/meta-data/`, all)).toBe("address");
    });
  test("a name that leads to metadata stays refused", async () => {
    const open = createGuard({ ...CLOSED, allowPrivateNetworks: true }, async () => ["169.254.169.254"]);
    await expect(open.check("http://innocent.example/")).rejects.toThrow(BlockedAddress);
  });

  test("listed hosts hold for navigation only", async () => {
    const listed = guard({ allowHosts: ["127.0.0.1"] });
    expect((await listed.check("http://127.0.0.1/")).addresses).toEqual(["127.0.0.1"]);
    await expect(listed.check("http://127.0.0.1/", { purpose: "subresource" })).rejects.toThrow(BlockedAddress);
  });

  test("one private address among public ones refuses the name", async () => {
    const mixed = createGuard(CLOSED, async () => [PUBLIC, "10.0.0.1"]);
    await expect(mixed.check("http://mixed.example/")).rejects.toThrow(BlockedAddress);
  });

  test("an entry that cannot be read is an error", () => {
    expect(() => guard({ allowHosts: ["http://x/"] })).toThrow("not a host");
  });

  test("the refusal never tells the address", async () => {
    const hidden = createGuard(CLOSED, async () => ["10.11.12.13"]);
    const error = await hidden.check("http://name.example/").catch((caught: Error) => caught.message);
    expect(error).not.toContain("10.11");
  });
});

describe("properties", () => {
  const privateV4 = fc.oneof(
    fc.tuple(fc.constantFrom(0, 10, 127), fc.nat(255), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(192), fc.constant(168), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(169), fc.constant(254), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.integer({ min: 224, max: 255 }), fc.nat(255), fc.nat(255), fc.nat(255)),
  );
  const part = (value: number, style: number) =>
    style === 0 ? String(value) : style === 1 ? `0x${value.toString(16)}` : `0${value.toString(8)}`;
  const spelling = fc
    .tuple(privateV4, fc.integer({ min: 1, max: 4 }), fc.array(fc.nat(2), { minLength: 4, maxLength: 4 }), fc.nat(3))
    .map(([bytes, count, styles, dress]) => {
      const head = bytes.slice(0, count - 1);
      const tail = bytes.slice(count - 1).reduce((sum, byte) => sum * 256 + byte, 0);
      const host = [...head, tail].map((value, index) => part(value, styles[index] ?? 0)).join(".");
      return dress === 1
        ? `${host}.`
        : dress === 2
          ? [...host].map((c) => (/\d/.test(c) ? String.fromCodePoint(0xff10 + Number(c)) : c)).join("")
          : dress === 3
            ? [...host].map((c) => `%${c.charCodeAt(0).toString(16)}`).join("")
            : host;
    });

  test("no spelling of a private IPv4 address passes", async () => {
    await fc.assert(
      fc.asyncProperty(spelling, async (host) => {
        expect(await reason(`http://${host}/`)).not.toBe("passed");
      }),
      { numRuns: 500 },
    );
  });

  test("no IPv6 address that carries a private IPv4 address passes", async () => {
    const hex = (bytes: number[]) =>
      `${(bytes[0]! * 256 + bytes[1]!).toString(16)}:${(bytes[2]! * 256 + bytes[3]!).toString(16)}`;
    const prefix = fc.constantFrom("::", "::ffff:", "::ffff:0:", "64:ff9b::", "64:ff9b:1::", "2002:");
    await fc.assert(
      fc.asyncProperty(privateV4, prefix, async (bytes, before) => {
        const host = before === "2002:" ? `2002:${hex(bytes)}::1` : before + hex(bytes);
        expect(await reason(`http://[${host}]/`)).toBe("address");
      }),
      { numRuns: 300 },
    );
  });

  test("classifying never throws, and only addresses are global", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        if (classifyAddress(text) === "global") expect(text).toMatch(/^[\d.[\]%]|:/);
      }),
    );
  });
});

test("CIDRs", () => {
  expect(parseCidr("10.0.0.0/9")?.("10.127.255.255")).toBe(true);
  expect(parseCidr("10.0.0.0/9")?.("10.128.0.0")).toBe(false);
  expect(parseCidr("10.0.0.0/9")?.("::ffff:10.1.1.1")).toBe(true);
  expect(parseCidr("fd00::/7")?.("fc01::1")).toBe(true);
  for (const bad of ["10.0.0.0/33", "x/8", "10.0.0.0/8/8", "10.0.0/8", "::1/129"])
    expect(parseCidr(bad)).toBeUndefined();
});
