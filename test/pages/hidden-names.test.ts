// Text that is hidden by the class of its element, where no rule of the page says so.

import { describe, expect, test } from "bun:test";
import { extractPage } from "../../src/pages/convert/extract.ts";

const PROSE = [
  "The pump lifts water from a depth of eight metres and runs on a single battery for a whole day.",
  "Its housing is cast in one piece, so that there is no seam through which water could find its way in.",
  "The hose is not part of the delivery, but every common hose with a thread of one inch fits.",
  "Should it ever fail, every part of it can be ordered and changed with nothing but a screwdriver.",
];
const TEXT = PROSE.map((text) => `<p>${text}</p>`).join("");
const OWN =
  "Outlet pumps are sold as they are, and the outlet price holds for the chosen colour as long as there are any.";

function read(main: string): string {
  const page = `<head><title>Garden pump</title></head><body><nav><a href="/">Home</a></nav>${main}<footer>© 2026 Example.</footer></body>`;
  const options = { url: "https://site.example/x", onlyMainContent: true, markdown: true, html: false, links: false };
  return extractPage(page, options).markdown ?? "";
}

describe("text in a part of class hide is left out", () => {
  test.each([
    ["a part", `<div class="sale hide"><p>${OWN}</p></div>`],
    ["a paragraph", `<p class="hide">${OWN}</p>`],
    ["facts for scripts", `<dl class="facts hide"><dt>Text</dt><dd>${OWN}</dd></dl>`],
    ["many facts for scripts", `<dl class="facts hide">${`<dt>Text</dt><dd>${OWN}</dd>`.repeat(20)}</dl>`],
    ["a part in a part", `<section class="hide"><div><div><p>${OWN}</p></div></div></section>`],
  ])("%s", (_, part) => {
    const markdown = read(`<main><h1>Garden pump</h1>${TEXT}${part}</main>`);
    expect(markdown).toContain(PROSE[3] as string);
    expect(markdown).not.toContain(OWN);
  });
});

describe("it is kept", () => {
  test.each([
    ["if the name says something else", `<div class="hide-and-seek"><p>${OWN}</p></div>`],
    ["if an id can show it", `<div class="hide" id="outlet"><p>${OWN}</p></div>`],
    ["in a tab", `<div class="tab-pane"><div class="hide"><p>${OWN}</p></div></div>`],
    ["in the answer of a question", `<div class="faq"><div class="hide answer"><p>${OWN}</p></div></div>`],
    ["if it is shown on some screens", `<div class="hide show@medium"><p>${OWN}</p></div>`],
    ["if it is the rest of a text", `<div class="hide"><p>${OWN}</p></div><p><a href="#">Read more</a></p>`],
    ["if a button shows it", `<button>Outlet</button><section class="hide"><p>${OWN}</p></section>`],
    ["under a question", `<div class="question">Outlet?</div><div class="hide">${OWN}</div>`],
    ["in a list that shows its first items", `<ul><li>Hose</li><li>Thread</li><li class="hide">${OWN}</li></ul>`],
    ["in a switch", `<div class="text-1"><p>Cast in one piece.</p></div><div class="text-2 hide"><p>${OWN}</p></div>`],
    ["if it is shown on some screens by another name", `<div class="hide md:block"><p>${OWN}</p></div>`],
  ])("%s", (_, part) => expect(read(`<main><h1>Garden pump</h1>${TEXT}${part}${TEXT}</main>`)).toContain(OWN));
  test("if it is most of the page", () => {
    const [first, second, ...others] = PROSE;
    const rest = `<div class="hide"><p>${others.join("</p><p>")}</p><p>${OWN}</p></div>`;
    expect(read(`<main><h1>Garden pump</h1><p>${first}</p><p>${second}</p>${rest}</main>`)).toContain(OWN);
  });
  test("if it is the page, which a script shows", () =>
    expect(read(`<div class="root hide"><main><h1>Garden pump</h1>${TEXT}<p>${OWN}</p></main></div>`)).toContain(OWN));
});
