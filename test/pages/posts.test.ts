// The posts of a thread: whole, without the figures of their authors, and not twice.

import { describe, expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import type { PageKind } from "../../src/pages/content/kind-signs.ts";
import { chooseMain } from "../../src/pages/content/main-content.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const QUESTION =
  "The bilge pump of my boat runs dry after ten minutes, although the inlet lies deep in the water and the hose is new.";
const ANSWER =
  "Then air comes in at the clamp: turn it by half, and put a drop of oil on the thread before you close it.";

/** Without it the page would be so small that it is kept whole. */
const REST = `<footer>${"<p>All that is said in this harbour is said by those who say it, and by nobody else, not even by us.</p>".repeat(6)}</footer>`;

/** The kept text, where the fitted model is sure of long text and has the same verdict on everything else. */
function kept(html: string, verdict: number, kind: PageKind = "forum"): string {
  const page = parsePage(`<title>Pump runs dry</title><main><h1>Pump runs dry</h1>${html}${REST}</main>`);
  const blocks = cutBlocks(page.body);
  const verdicts = blocks.map(({ text }) => (text.length > 80 ? 0.95 : verdict));
  const chosen = chooseMain(page, blocks, verdicts, { kind: () => kind });
  return blocks
    .filter((block) => chosen.has(block))
    .map(({ text }) => text)
    .join("\n");
}

describe("a post is kept whole", () => {
  const SHORT = "It is the clamp.";
  const bodies: [name: string, open: string, close: string][] = [
    ["XenForo", '<article class="message-body js-selectToQuote"><div class="bbWrapper">', "</div></article>"],
    ["Discourse", '<div class="cooked">', "</div>"],
    ["a comment", '<div class="comment-content"><div class="field">', "</div></div>"],
    ["microdata", '<div itemprop="text">', "</div>"],
  ];
  const thread = (open: string, close: string, own: string) =>
    `${open}<p>${QUESTION}</p>${close}${open}${own}${close}${open}<p>${ANSWER}</p>${close}`;
  for (const [name, open, close] of bodies)
    test(name, () => {
      const own = `<p>${ANSWER} Twice.</p><p>${SHORT}</p><ul><li>Oil</li></ul>`;
      expect(kept(thread(open, close, own), 0.3)).toContain(`Twice.\n${SHORT}\nOil`);
    });

  test("a short one, too, if the look is not sure that it is none", () => {
    const [, open, close] = bodies[0] as [string, string, string];
    expect(kept(thread(open, close, `<p>${SHORT}</p>`), 0.2)).toContain(SHORT);
    expect(kept(thread(open, close, `<p>${SHORT}</p>`), 0.1)).not.toContain(SHORT);
  });

  test("without buttons and the previews of links", () => {
    const preview = '<div class="bbCodeBlock--unfurl"><h3>Clamps and hoses</h3></div><button>Vote</button>';
    const text = kept(`<div class="post-body"><p>${ANSWER}</p>${preview}<p>${SHORT}</p></div>`, 0.3);
    expect(text).toContain(SHORT);
    expect(text).not.toMatch(/Clamps|Vote/);
  });

  test.each(["article", "product", "listing"] as const)("on a page of kind %s it is not", (kind) => {
    const far = `<div class="post-body"><p>${SHORT}</p></div>`;
    expect(kept(`<div><div class="post-body"><p>${ANSWER}</p></div></div><div>${far}</div>`, 0.2, kind)).not.toContain(
      SHORT,
    );
  });
});

describe("of an author the name is kept, without figures", () => {
  const figures = "<dl><dt>Joined</dt><dd>June 2016</dd></dl><div>Messages: 11</div><div>Harbour town</div>";
  const boxes: [name: string, html: string][] = [
    [
      "XenForo",
      `<div class="message-user"><h4 class="message-name"><a class="username">Ann</a></h4><div class="message-userExtras">${figures}</div></div>`,
    ],
    ["phpBB", `<div class="postprofile"><a class="username-coloured">Ann</a>${figures}</div>`],
    [
      "Invision",
      `<div><ul class="cAuthorPane_info"><li><h3 class="cAuthorPane_author">Ann</h3></li><li>${figures}</li></ul></div>`,
    ],
  ];
  const post = (box: string, text: string) =>
    `<article class="post">${box}<div class="message-body"><p>${text}</p></div></article>`;
  test.each(boxes)("%s", (_, box) => {
    const text = kept(post(box, QUESTION) + post(box.replace("Ann", "Ben"), ANSWER), 0.9);
    expect(text).toContain(`Ann\n${QUESTION}\nBen\n${ANSWER}`);
  });
  test("other pages keep them", () => {
    const [, box] = boxes[0] as [string, string];
    expect(kept(post(box, QUESTION), 0.9, "article")).toContain("Messages: 11");
  });
  test("text of some length under such a name is no figure", () => {
    expect(
      kept(post("", QUESTION) + post(`<div class="postprofile"><p>${ANSWER} ${ANSWER} Yes.</p></div>`, ANSWER), 0.9),
    ).toContain("Yes.");
  });
});

describe("a post that is shown a second time in a hidden part is kept once", () => {
  const times = (html: string) => kept(html, 0.9).split(QUESTION).length - 1;
  const post = `<div class="message-body"><p>${QUESTION}</p></div>`;
  test.each(["hidden", "hide", "d-none"])("%s", (name) =>
    expect(times(`<div>${post}<section>${ANSWER}</section></div><div class="copy ${name}">${post}</div>`)).toBe(1),
  );
  test("other text in a hidden part stays", () =>
    expect(kept(`${post}<div class="hidden"><p>${ANSWER}</p></div>`, 0.9)).toContain(ANSWER));
});
