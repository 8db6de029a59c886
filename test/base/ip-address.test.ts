import { describe, expect, test } from "bun:test";
import { isIP } from "node:net";
import fc from "fast-check";
import { ipVersion } from "../../src/base/ip-address.ts";

const GROUPS = fc.stringMatching(/^[0-9a-fA-F]{0,5}$/);
/** Texts that are addresses, or nearly. */
const TEXTS = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.array(fc.nat(300), { minLength: 3, maxLength: 5 }).map((parts) => parts.join(".")),
  fc.array(fc.stringMatching(/^0?\d{1,3}$/), { minLength: 4, maxLength: 4 }).map((parts) => parts.join(".")),
  fc.array(GROUPS, { minLength: 1, maxLength: 9 }).map((groups) => groups.join(":")),
  fc.tuple(fc.array(GROUPS, { maxLength: 7 }), fc.ipV4()).map(([groups, v4]) => [...groups, v4].join(":")),
  fc.tuple(fc.ipV6(), fc.constantFrom("%eth0", "%", "%a b", "%1%2", "]", " ")).map((parts) => parts.join("")),
  fc.tuple(fc.ipV4(), fc.constantFrom("%eth0", "/8", " ", ".")).map((parts) => parts.join("")),
  fc.string(),
);

describe("the version of an address", () => {
  test.each([
    ["127.0.0.1", 4],
    ["::1", 6],
    ["::ffff:10.0.0.1", 6],
    ["fe80::1%eth0", 6],
    ["[::1]", 0],
    ["010.0.0.1", 0],
    ["1.2.3", 0],
    ["1:2:3:4:5:6:7::", 6],
    ["example.com", 0],
    ["", 0],
  ] as const)("%p is %p", (text, version) => {
    expect(ipVersion(text)).toBe(version);
  });

  test("is what the platform says, for anything like an address", () => {
    fc.assert(
      fc.property(TEXTS, (text) => {
        expect(`${text} is ${ipVersion(text)}`).toBe(`${text} is ${isIP(text) as 0 | 4 | 6}`);
      }),
      { numRuns: 5000 },
    );
  });
});
