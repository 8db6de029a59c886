import { describe, expect, test } from "bun:test";
import { isIP } from "node:net";
import fc from "fast-check";
import { parseAddress } from "../../src/base/ip-address.ts";
import { classifyAddress, parseCidr } from "../../src/net/address.ts";
import { type AddressPolicy, BlockedAddress, createAddressGuard } from "../../src/net/address-guard.ts";
import { createResolve } from "../../src/net/resolve.ts";

const CLOSED: AddressPolicy = { allowPrivateNetworks: false, allowHosts: [], ports: [] };
const PUBLIC = "93.184.216.34";

/** Names resolve to a public address unless they are literals, so that only the spelling decides. */
const resolve = async (host: string) => {
  const literal = await createResolve(["127.0.0.1:1"])(host, AbortSignal.abort()).catch(() => undefined);
  return literal ?? (/localhost$/.test(host) ? ["127.0.0.1"] : [PUBLIC]);
};
const guard = (policy: Partial<AddressPolicy> = {}) => createAddressGuard({ ...CLOSED, ...policy }, resolve);
const reason = (url: string, policy: Partial<AddressPolicy> = {}) =>
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

describe("accepted addresses", () => {
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
  const cases: [string, string, Partial<AddressPolicy>, string][] = [
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
    test(`${host} is refused whatever is allowed`, async () => {
      const all = { allowPrivateNetworks: true, allowHosts: [host, "0.0.0.0/0", "::/0"] };
      expect(await reason(`http://${host}/latest/meta-data/`, all)).toBe("address");
    });
  test("a name that resolves to a metadata service is refused", async () => {
    const open = createAddressGuard({ ...CLOSED, allowPrivateNetworks: true }, async () => ["169.254.169.254"]);
    await expect(open.check("http://innocent.example/")).rejects.toThrow(BlockedAddress);
  });

  test("listed hosts are only allowed for navigation", async () => {
    const listed = guard({ allowHosts: ["127.0.0.1"] });
    expect((await listed.check("http://127.0.0.1/")).addresses).toEqual(["127.0.0.1"]);
    await expect(listed.check("http://127.0.0.1/", { purpose: "subresource" })).rejects.toThrow(BlockedAddress);
  });

  test("one private address among public ones refuses the name", async () => {
    const mixed = createAddressGuard(CLOSED, async () => [PUBLIC, "10.0.0.1"]);
    await expect(mixed.check("http://mixed.example/")).rejects.toThrow(BlockedAddress);
  });

  test("an entry that cannot be read is an error", () => {
    expect(() => guard({ allowHosts: ["http://x/"] })).toThrow("not a host");
  });

  test("the error never contains the address", async () => {
    const hidden = createAddressGuard(CLOSED, async () => ["10.11.12.13"]);
    const error = await hidden.check("http://name.example/").catch((caught: Error) => caught.message);
    expect(error).not.toContain("10.11");
  });
});

/**
 * The first and last addresses of all ranges that are not public, by the IANA registries, and of metadata services outside of
 * these ranges.
 */
const CLOSED_V4: [string, string][] = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  ["168.63.129.16", "168.63.129.16"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "255.255.255.255"],
];
const numberOf = (dotted: string) => dotted.split(".").reduce((sum, byte) => sum * 256 + Number(byte), 0);
const bytesOf = (number: number) => [24, 16, 8, 0].map((bits) => Math.floor(number / 2 ** bits) % 256);
const isClosed = (number: number) =>
  CLOSED_V4.some(([first, last]) => number >= numberOf(first) && number <= numberOf(last));

describe("properties", () => {
  const nearby = fc
    .tuple(fc.constantFrom(...CLOSED_V4.flat()), fc.integer({ min: -2, max: 2 }))
    .map(([border, step]) => Math.min(2 ** 32 - 1, Math.max(0, numberOf(border) + step)));
  const within = fc
    .tuple(fc.constantFrom(...CLOSED_V4), fc.nat())
    .map(([[first, last], n]) => numberOf(first) + (n % (numberOf(last) - numberOf(first) + 1)));
  const v4 = fc.oneof(nearby, within, fc.nat(2 ** 32 - 1));

  const part = (value: number, style: number) =>
    [String(value), `0x${value.toString(16)}`, `0X00${value.toString(16).toUpperCase()}`, `0${value.toString(8)}`][
      style
    ];
  /** Spellings that the URL parser reads as the letter. */
  const dressed = (letter: string, dress: number) => {
    if (dress === 1) return `%${letter.charCodeAt(0).toString(16)}`;
    if (dress === 2 && letter !== ".") return String.fromCodePoint(letter.charCodeAt(0) + 0xfee0);
    if (dress === 2 || dress === 3) return letter === "." ? "\u3002" : letter;
    return dress === 4 ? `${letter}\u00ad` : letter;
  };
  const styles = fc.array(fc.nat(3), { minLength: 4, maxLength: 4 });
  const dresses = fc.oneof(
    fc.constant<number[]>([]),
    fc.nat(4).map((dress) => Array<number>(60).fill(dress)),
    fc.array(fc.nat(4), { minLength: 60, maxLength: 60 }),
  );
  const spelled = (number: number, given: { count: number; styles: number[]; dresses: number[]; dot: boolean }) => {
    const bytes = bytesOf(number);
    const tail = numberOf(bytes.slice(given.count - 1).join("."));
    const parts = [...bytes.slice(0, given.count - 1), tail].map((value, at) => part(value, given.styles[at] ?? 0));
    const plain = parts.join(".") + (given.dot ? "." : "");
    return [...plain].map((letter, at) => dressed(letter, given.dresses[at] ?? 0)).join("");
  };
  const spelling = fc.record({ count: fc.integer({ min: 1, max: 4 }), styles, dresses, dot: fc.boolean() });

  test("an IPv4 address is accepted if it is public, however it is spelled", async () => {
    await fc.assert(
      fc.asyncProperty(v4, spelling, async (number, how) => {
        const host = spelled(number, how);
        expect([host, await reason(`http://${host}/`)]).toEqual([host, isClosed(number) ? "address" : "passed"]);
      }),
      { numRuns: 1000 },
    );
  });

  test("an IPv6 address that contains an IPv4 address never leads to a private one", async () => {
    const hex = (number: number) => `${Math.floor(number / 65536).toString(16)}:${(number % 65536).toString(16)}`;
    const prefix = fc.constantFrom("::", "::ffff:", "::ffff:0:", "64:ff9b::", "64:ff9b:1::", "2002:");
    await fc.assert(
      fc.asyncProperty(v4, prefix, fc.boolean(), async (number, before, dotted) => {
        const inside = dotted && before !== "2002:" ? bytesOf(number).join(".") : hex(number);
        const host = before === "2002:" ? `2002:${inside}::1` : before + inside;
        const isOpen = (before === "::ffff:" || before === "64:ff9b::") && !isClosed(number);
        expect([host, await reason(`http://[${host}]/`)]).toEqual([host, isOpen ? "passed" : "address"]);
      }),
      { numRuns: 500 },
    );
  });

  test("an IPv6 address is read correctly in any of its spellings", () => {
    const groups = fc.array(fc.oneof(fc.constant(0), fc.nat(65535)), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(groups, fc.nat(8), fc.nat(8), (given, from, length) => {
        const numbers = given.map((group, at) => (at >= from && at < from + length ? 0 : group));
        const hex = numbers.map((group) => group.toString(16));
        const left = hex.slice(0, from).join(":");
        const short = `${left}::${hex.slice(from + length).join(":")}`;
        const bytes = numbers.flatMap((group) => [group >> 8, group & 255]);
        const mixed = `${hex.slice(0, 6).join(":")}:${bytes.slice(12).join(".")}`;
        const whole = hex.join(":");
        const texts = [whole, whole.toUpperCase(), mixed, `[${whole}]`, `${whole}%eth0`];
        if (from < 8 && length > 0) texts.push(short);
        for (const text of texts) expect([text, parseAddress(text)]).toEqual([text, bytes]);
      }),
      { numRuns: 300 },
    );
  });

  test("text that is not an address is refused", () => {
    const piece = fc.constantFrom(
      "0",
      "1",
      "00",
      "a",
      "F",
      "g",
      ":",
      "::",
      ".",
      "ffff",
      "255",
      "256",
      "1.2.3.4",
      "01",
      "x",
      "-",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(piece, { maxLength: 9 }).map((parts) => parts.join("")),
          fc.string(),
        ),
        (text) => {
          const bytes = parseAddress(text);
          if (bytes === undefined) expect(classifyAddress(text)).toBe("invalid");
          else
            expect([text, isIP(text.replace(/^\[|\]$/g, "").replace(/%.*$/, ""))]).toEqual([
              text,
              bytes.length === 4 ? 4 : 6,
            ]);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("a CIDR contains the addresses with its prefix", () => {
    fc.assert(
      fc.property(v4, fc.nat(32), v4, fc.nat(32), (base, bits, other, common) => {
        // An address that shares some leading bits with the first one, so that borders of ranges are tested.
        const size = 2 ** (32 - common);
        const near = Math.floor(base / size) * size + (other % size);
        const holds = Math.floor(base / 2 ** (32 - bits)) === Math.floor(near / 2 ** (32 - bits));
        const inside = parseCidr(`${bytesOf(base).join(".")}/${bits}`);
        const text = bytesOf(near).join(".");
        expect([inside?.(text), inside?.(`::ffff:${text}`)]).toEqual([holds, holds]);
      }),
      { numRuns: 500 },
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
