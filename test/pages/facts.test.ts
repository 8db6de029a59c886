import { describe, expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import { isRowOfFacts } from "../../src/pages/content/facts.ts";
import { chooseMain } from "../../src/pages/content/main-content.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

function isRow(html: string): boolean {
  const [row] = parsePage(`<body>${html}</body>`).body.children;
  return row !== undefined && isRowOfFacts(row);
}

const fact = (text: string) => `<div class="fact"><b>${text}</b></div>`;

describe("a row of facts is known by its parts", () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ["times of a recipe", `<div>${["Prep 40 min", "Rest 2 h", "Bake 12 min"].map(fact).join(" ")}</div>`, true],
    ["paragraphs", "<section><p>Built 1912</p><p>Length 31 m</p><p>Draught 2.4 m</p></section>", true],
    ["two parts", `<div>${["Prep 40 min", "Rest 2 h"].map(fact).join("")}</div>`, false],
    ["a part without a number", `<div>${["Prep 40 min", "Rest 2 h", "Bake well"].map(fact).join("")}</div>`, false],
    ["numbers alone", `<div>${["1", "2", "3"].map(fact).join("")}</div>`, false],
    [
      "a long part",
      `<div>${["Prep 40 min", "Rest 2 h", `Bake 12 min, ${"or more ".repeat(6)}`].map(fact).join("")}</div>`,
      false,
    ],
    ["text between the parts", `<div>${["Prep 40 min", "Rest 2 h", "Bake 12 min"].map(fact).join("and")}</div>`, false],
    ["parts of another class", `<div>${fact("Prep 40 min")}${fact("Rest 2 h")}<div>Bake 12 min</div></div>`, false],
    ["many parts", `<div>${Array.from({ length: 13 }, (_, at) => fact(`Stop ${at}`)).join("")}</div>`, false],
    [
      "parts of many elements",
      `<div>${["Prep 40 min", "Rest 2 h", "Bake 12 min"].map((text) => fact(`${text}${"<i></i>".repeat(50)}`)).join("")}</div>`,
      false,
    ],
    ["an empty element", "<div></div>", false],
  ];
  for (const [name, html, isFacts] of cases) test(name, () => expect(isRow(html)).toBe(isFacts));
});

test("a row of facts of which most is kept is kept whole", () => {
  const text = "The buns are rolled out twice, so that the butter comes to lie in many thin layers of dough. "
    .repeat(6)
    .trim();
  const keptOf = (facts: readonly string[]) => {
    const document = parsePage(`<body><p>${text}</p><div>${facts.map(fact).join("")}</div></body>`);
    const blocks = cutBlocks(document.body);
    const verdicts = blocks.map((_, at) => (at === blocks.length - 1 ? 0.1 : 0.9));
    const kept = chooseMain(document, blocks, verdicts, { without: "contained" });
    return blocks.filter((block) => kept.has(block)).map((block) => block.text);
  };
  const row = ["Prep time 40 min", "Rest time 2 h", "Bake time 12 min", "Makes 9"];
  expect(keptOf(row)).toEqual([text, ...row]);
  expect(keptOf([...row.slice(0, 3), "Buns"])).toEqual([text, ...row.slice(0, 3)]);
});
