import { expect, test } from "bun:test";
import { extractPage } from "../../src/pages/convert/extract.ts";

const prose = (name: string) =>
  [
    `The ${name} was built in a single summer by people who had never built anything larger than a barn before that.`,
    `Of the ${name} nothing was to be seen from the road, as a row of elms had been planted along the whole of its front.`,
    `Whoever visits the ${name} today finds the elms gone, the windows painted green and a small shop beside the egress.`,
    `There has been talk of selling the ${name} for twenty years, and for twenty years nobody has made an offer.`,
  ]
    .map((text) => `<p>${text}</p>`)
    .join("");

function read(title: string, main: string): string {
  const page = `<title>${title}</title><nav><a href="/">Home</a></nav><main>${main}</main><footer>© 2026</footer>`;
  const options = { url: "https://site.example/x", onlyMainContent: true, markdown: true, html: false, links: false };
  return extractPage(page, options).markdown ?? "";
}

const story = (name: string, level: 1 | 2, by: string) =>
  `<article class="story"><h${level}>The ${name}</h${level}><p class="byline">${by}</p>${prose(name)}</article>`;

test("a story with a headline, an author and a date of its own ends the one before", () => {
  for (const level of [1, 2] as const) {
    const main = story("mill", 1, "By Ann Lee, 3 May 2026") + story("school", level, "By Bo Chan, 1 May 2026");
    const markdown = read("The mill", main);
    expect(markdown).toContain("Of the mill nothing");
    expect(markdown).not.toContain("Of the school nothing");
  }
});

test("sections of one page stay, dated or not", () => {
  const history = `<h1>History of changes</h1>${prose("mill")}<h1>Version 2, 3 May 2026</h1>${prose("school")}<h1>Version 1</h1>${prose("bridge")}`;
  const markdown = read("History of changes", history);
  for (const name of ["mill", "school", "bridge"]) expect(markdown).toContain(`Of the ${name} nothing`);
  const wrapped = history.replaceAll(/<h1>.*?<\/h1>/g, '<div class="heading">$&</div><p>On 3 May 2026.</p>');
  for (const name of ["mill", "school", "bridge"])
    expect(read("History of changes", wrapped)).toContain(`Of the ${name} nothing`);
  const sections = ["mill", "school"].map(
    (name) => `<section class="part"><h2>The ${name}</h2>${prose(name)}</section>`,
  );
  expect(read("Two houses", `<h1>Two houses</h1>${sections.join("")}`)).toContain("Of the school nothing");
});
