import { describe, expect, test } from "bun:test";
import { extractPage } from "../../src/pages/convert/extract.ts";

const TEXT = `<p>${"A page that there is something to read on. ".repeat(30)}</p>`;

function read(html: string) {
  const url = "https://site.example/dir/page";
  return extractPage(html, { url, onlyMainContent: true, markdown: true, html: false, links: false });
}

describe("the target of a page with only a script", () => {
  const moved = "https://site.example/new";
  const moves: [string, string, string | undefined][] = [
    ["an address set", "<script>window.location.href = '/new';</script>", moved],
    ["an address set on load", `<body onload="location='/new'"></body>`, moved],
    ["an address put in place", '<script>\n<!--\nwindow.location.replace("/new")\n//-->\n</script>', moved],
    ["an address given away", '<script>document.location.assign("/new");</script>', moved],
    ["a condition", "<script>if (isNew) location.href = '/new'</script>", undefined],
    ["two of them", "<script>location='/a'</script><script>location='/b'</script>", undefined],
    ["a scheme of no page", "<script>location.href='javascript:alert(1)'</script>", undefined],
    ["a file", "<script>location.href='file:///etc/passwd'</script>", undefined],
    ["a page to be read", `${TEXT}<script>location.href='/new'</script>`, undefined],
  ];
  for (const [name, html, expected] of moves) test(name, () => expect(read(html).refreshUrl).toBe(expected));
});
