import { expect, test } from "bun:test";
import fc from "fast-check";
import { compileGlob } from "../../src/pages/globs.ts";
import { cpuMs } from "../support/real-time.ts";

const HOST = "https://example.com";

test.each<[string, string[], string[]]>([
  ["/blog", ["/blog"], ["/blog/", "/blog/a", "/a/blog", "/blogs"]],
  ["blog/*", ["/blog/a", "/blog/"], ["/blog", "/blog/a/b", "/x/blog/a"]],
  ["/blog/**", ["/blog/", "/blog/a", "/blog/a/b"], ["/blog", "/blogs/a"]],
  ["**", ["/", "/a", "/a/b"], []],
  ["*", ["/", "/a"], ["/a/b"]],
  ["/**/edit", ["/edit", "/a/edit", "/a/b/edit"], ["/editor", "/a/edits", "/aedit"]],
  ["/docs/**/x", ["/docs/x", "/docs/a/x", "/docs/a/b/x"], ["/docsx", "/docs/ax"]],
  ["/a**z", ["/az", "/a/b/z"], ["/a", "/za"]],
  ["/p?ge", ["/page", "/pige"], ["/pge", "/p/ge", "/paage"]],
  ["/a.b", ["/a.b"], ["/axb"]],
  ["/(a|b)+", ["/(a|b)+"], ["/a", "/aab"]],
  ["https://example.com/*", [`/a`], ["/a/b"]],
  ["http://example.com/**", [], ["/a"]],
  ["*://*.com/a", ["/a"], ["/b"]],
  ["/ü/*", ["/%C3%BC/a", "/ü/b"], ["/u/a"]],
  ["***", ["/a/b"], []],
])("a pattern takes its addresses and no others: %s", (pattern, taken, refused) => {
  const test = compileGlob(pattern);
  for (const path of taken) expect([path, test?.(HOST + path)]).toEqual([path, true]);
  for (const path of refused) expect([path, test?.(HOST + path)]).toEqual([path, false]);
});

test("queries and fragments are not part of the path", () => {
  expect(compileGlob("/a")?.(`${HOST}/a?b=/c#d`)).toBe(true);
  expect(compileGlob("https://example.com/a?b=*")?.(`${HOST}/aXb=c`)).toBe(true);
});

test.each(["", "  ", "x".repeat(501), "*a".repeat(31)])("%j is no pattern", (pattern) =>
  expect(compileGlob(pattern)).toBeUndefined(),
);

test("means the same as the corresponding regular expression", () => {
  const odd = ["a", "b", ".", "(", "+", "ü", "😀", "%20", "%2F", "^", "|", "["];
  const piece = fc.constantFrom("/", "*", "**", "/**/", "?", " ", "\\", "$", ...odd);
  const letters = fc.array(fc.constantFrom("/", ...odd), { maxLength: 8 }).map((parts) => `/${parts.join("")}`);
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), letters, (pieces, path) => {
      const glob = `/${pieces.join("")}`.trim().replace(/\*{3,}/g, "**");
      const source = glob
        .split(/(\/\*\*\/|\*\*|\*|\?)/)
        .map((part) => WILDCARDS[part] ?? part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
        .join("");
      const { href, pathname } = new URL(HOST + path);
      const isMeant = [pathname, decodeURIComponent(pathname)].some((text) => new RegExp(`^${source}$`).test(text));
      expect([glob, href, compileGlob(glob)?.(href)]).toEqual([glob, href, isMeant]);
    }),
    { numRuns: 500 },
  );
});

const WILDCARDS: Record<string, string> = { "/**/": "/(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]" };

test("patterns that are designed to be slow are fast", () => {
  const pattern = `/${"**a".repeat(30)}b`;
  const address = `${HOST}/${"a".repeat(1900)}`;
  // With backtracking this would take longer than the age of the universe.
  expect(cpuMs(() => expect(compileGlob(pattern)?.(address)).toBe(false))).toBeLessThan(1000);
});
