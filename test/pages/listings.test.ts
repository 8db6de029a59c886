import { describe, expect, test } from "bun:test";
import { extractPage } from "../../src/pages/convert/extract.ts";
import { CODE, LISTINGS } from "./listing-fixtures.ts";

const PROSE =
  "The lock keeper writes down the height of the water every morning and sends the figures to the town. ".repeat(3);

describe("a listing comes out as its code alone, with blank lines and the language", () => {
  for (const { name, html, language } of LISTINGS)
    for (const onlyMainContent of [true, false])
      test(`${name}, ${onlyMainContent ? "main content" : "whole page"}`, () => {
        const page = `<body><main><article><h1>Locks</h1><p>${PROSE}</p><h2>How it is called</h2>${html}<p>${PROSE}</p></article></main>`;
        const { markdown } = extractPage(page, {
          url: "https://a.example/",
          onlyMainContent,
          markdown: true,
          html: false,
          links: false,
        });
        const after = markdown?.split("## How it is called\n\n")[1] ?? "";
        const lines = after
          .slice(0, after.indexOf("\n\nThe lock keeper"))
          .split("\n")
          .map((line) => line.trimEnd());
        expect(lines.join("\n")).toBe(`\`\`\`${language}\n${CODE}\n\`\`\``);
      });
});

test("digits of the code itself stay", () => {
  const html =
    '<pre class="chroma"><code><span class="line"><span class="ln">1</span><span class="cl"><span class="mi">42</span>\n</span></span></code></pre>';
  const { markdown } = extractPage(`<body>${html}`, {
    url: "https://a.example/",
    onlyMainContent: false,
    markdown: true,
    html: false,
    links: false,
  });
  expect(markdown).toBe("```\n42\n```");
});

test.each([true, false])("a listing in a listing is a line of its own (main content: %p)", (onlyMainContent) => {
  const html = `<body><main><h1>Locks</h1><p>${PROSE}</p><pre class="language-js">open();<pre>wait(1);</pre>close();</pre><p>${PROSE}</p></main>`;
  const { markdown } = extractPage(html, {
    url: "https://a.example/",
    onlyMainContent,
    markdown: true,
    html: false,
    links: false,
  });
  expect(markdown).toContain("\n\n```js\nopen();\nwait(1);\nclose();\n```\n\n");
});
