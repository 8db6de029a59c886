// What stands in windows that open over a page is left out.

import { expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import { chooseMain } from "../../src/pages/content/main-content.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const REST = `<p>${"Sails are cut from cloth that was made for this, and sewn with thread that was made for the cloth. ".repeat(6)}</p>`;
const TERMS = "The offer holds for new customers, who have to sign for a year, pay by the month and live on the coast.";

function isKept(html: string, text = TERMS): boolean {
  const page = parsePage(`<title>Sails</title><main><h1>Sails</h1>${REST}${html}</main>`);
  const blocks = cutBlocks(page.body);
  const chosen = chooseMain(
    page,
    blocks,
    blocks.map(() => 0.9),
  );
  return blocks.some((block) => block.text === text && chosen.has(block));
}

test.each(["modal", "offer-modal", "modal fade", "lightbox", "popup_body", "pop-up", "offcanvas offcanvas-end"])(
  "in a window of class %s",
  (name) => expect(isKept(`<div class="${name}"><div><p>${TERMS}</p></div></div>`)).toBeFalse(),
);

test.each([
  ["in another part", `<div class="modality"><p>${TERMS}</p></div>`],
  ["under a picture", `<figure class="wp-lightbox-container"><img src="a"><figcaption>${TERMS}</figcaption></figure>`],
  ["in a gallery", `<div class="popup-gallery"><div><img src="a"><p>${TERMS}</p></div></div>`],
  ["where much of the text stands in such parts", `<div class="modal"><p>${TERMS}</p><p>${REST}</p></div>`],
])("it is kept %s", (_, html) => expect(isKept(html)).toBeTrue());

test("a headline and a price are kept there", () => {
  expect(isKept('<div class="modal"><h1>Jib of cotton</h1></div>', "Jib of cotton")).toBeTrue();
  expect(isKept('<div class="popup"><span class="price">£20.00</span></div>', "£20.00")).toBeTrue();
});
