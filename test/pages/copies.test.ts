import { describe, expect, test } from "bun:test";
import { extractPage } from "../../src/pages/convert/extract.ts";

function read(main: string): string {
  const page = `<title>T</title><nav><a href="/">Home</a></nav><main><article>${main}</article></main><footer>© 2026</footer>`;
  const options = { url: "https://site.example/x", onlyMainContent: true, markdown: true, html: false, links: false };
  return extractPage(page, options).markdown ?? "";
}

const count = (text: string, part: string) => text.split(part).length - 1;

describe("text that resembles other text is kept", () => {
  test("doses that differ in one number", () => {
    const dose = (who: string, amount: string, hours: string) =>
      `<h3>${who}</h3><p>Take ${amount} by mouth with a full glass of water every ${hours} hours while the pain lasts, at the earliest one hour after a meal, and do not take more than four doses in one day unless a doctor has told you to do so. Stop taking it and ask for advice when there is no change for the better after three days.</p>`;
    const markdown = read(
      `<h1>How to take it</h1>${dose("Adults", "500 mg", "6")}${dose("Children", "125 mg", "8")}${dose("Older people", "250 mg", "8")}`,
    );
    for (const amount of ["500 mg", "125 mg", "250 mg"]) expect(markdown).toContain(`Take ${amount} by mouth`);
    expect(markdown).toMatch(/### Older people\n\nTake 250 mg/);
  });
  test("a clause with exchanged parties", () => {
    const clause = (one: string, other: string) =>
      `<h3>Liability of the ${one}</h3><p>The ${one} shall hold the ${other} harmless against all claims of third parties that arise from acts of the ${one} or of persons whom the ${one} employs, provided that the ${other} informs the ${one} of such claims in writing without delay and does not settle them without consent of the ${one}.</p>`;
    const markdown = read(`<h1>Agreement</h1>${clause("Supplier", "Customer")}${clause("Customer", "Supplier")}`);
    expect(markdown).toContain("The Supplier shall hold the Customer harmless");
    expect(markdown).toContain("The Customer shall hold the Supplier harmless");
  });
  const verse = (n: number) =>
    `<p>Verse ${n} tells of ${["the harbour at night", "a lamp on the stair", "the boats coming home"][n]} and of everyone who waits there.</p><p>It takes its time, as verses do, and leads to what comes after number ${n}.</p>`;
  const chorus =
    "<p>And we sing it once more for the ones who are gone, and we sing it for those who will come,</p><p>and the sea keeps the time and the wind keeps the tune until all of the singing is done, until all of the singing is done.</p>";
  test("a chorus, in the song itself", () =>
    expect(count(read(`<h1>Song</h1>${[0, 1, 2].map((n) => verse(n) + chorus).join("")}`), "And we sing")).toBe(3));
  test("a chorus, in parts of its own", () => {
    const song = [0, 1, 2]
      .map((n) => `<div class="verse">${verse(n)}</div><div class="chorus">${chorus}</div>`)
      .join("");
    expect(count(read(`<h1>Song</h1>${song}`), "And we sing")).toBe(3);
  });
  test("the same steps in two tabs", () => {
    const steps =
      "<p>Download the archive for your system and unpack it into a folder to which you may write.</p><p>Open a terminal in that folder and start the program once, so that it writes its settings.</p>";
    const markdown = read(
      `<h1>Install</h1><div class="tab active">${steps}<p>On this system, allow the port in the firewall.</p></div><div class="tab">${steps}<p>On that system, nothing else is to be done.</p></div>`,
    );
    expect(count(markdown, "Download the archive")).toBe(2);
  });
});

describe("the same text in a second container is removed", () => {
  const text =
    "<p>The bridge was closed in March, after a barge had struck its second pillar in the fog.</p><p>It is to be opened again in the autumn; until then a ferry runs every ten minutes.</p>";
  test.each([
    ["for print", `<div class="body">${text}</div><div class="print-version">${text}</div>`],
    [
      "for small screens",
      `<div class="desktop-only">${text}</div><section><div class="mobile-only">${text}</div></section>`,
    ],
    ["without a name", `<div class="body">${text}</div><section class="other"><div>${text}</div></section>`],
    ["in one piece", `<div class="body">${text}</div><div class="plain">${text.replaceAll("</p><p>", " ")}</div>`],
  ])("%s", (_, main) => expect(count(read(`<h1>The bridge</h1>${main}`), "The bridge was closed")).toBe(1));
  const alone =
    "The bridge was closed in March, after a barge had struck its second pillar in the fog, and a ferry runs every ten minutes.";
  const rest =
    "<p>The harbour master says that the pillar stands firm, and that the roadway alone is to be mended.</p>";
  test.each([
    [
      "one paragraph for another screen",
      `<div class="text"><p>${alone}</p></div>${rest}<div class="hidden lg:block"><p>${alone}</p></div>`,
    ],
    [
      "the preview of a post above a reply",
      `<div class="content"><p>${alone}</p></div><div class="reply"><div class="line-clamp-3"><p>${alone}</p></div><div class="content">${rest}</div></div>`,
    ],
  ])("%s", (_, main) => expect(count(read(`<h1>The bridge</h1>${main}`), "The bridge was closed")).toBe(1));
  test("but not one paragraph in a part that has no such name", () => {
    const others = Array.from({ length: 5 }, (_, at) => rest.replace("harbour master", `master of quay ${at}`)).join(
      "",
    );
    const parts = `<section class="a"><p>${alone}</p>${others}</section><section class="b"><p>${alone}</p>${rest}</section>`;
    expect(count(read(`<h1>The bridge</h1>${parts}`), "The bridge was closed")).toBe(2);
  });
  test("not if it has one more word", () => {
    const more = text.replace("ten minutes", "ten minutes or so");
    expect(count(read(`<div class="body">${text}</div><div class="print">${more}</div>`), "ten minutes or so")).toBe(1);
  });
});
