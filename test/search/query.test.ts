import { describe, expect, test } from "bun:test";
import { guessLanguage } from "../../src/search/language.ts";
import { isUnrelated } from "../../src/search/relevance.ts";

describe("the language of a query", () => {
  test.each([
    ["how to bake bread", "en"],
    ["wie backe ich Brot", "de"],
    ["Straßenbahn", "de"],
    ["comment faire du pain", "fr"],
    ["cómo hacer pan", "es"],
    ["como fazer pão", "pt"],
    ["come fare il pane", "it"],
    ["jak upiec chleb", "pl"],
    ["hur bakar man bröd", "sv"],
    ["как испечь хлеб", "ru"],
    ["як спекти хліб", "uk"],
    ["パンの作り方", "ja"],
    ["빵 만드는 법", "ko"],
    ["如何做面包", "zh"],
    ["איך לאפות לחם", "he"],
    ["كيف أخبز الخبز", "ar"],
    ["πώς να φτιάξω ψωμί", "el"],
  ])("%s: %s", (query, language) => expect(guessLanguage(query)).toBe(language));

  test.each(["bun 1.4 release", "GTX 1080", "", "12345", "Tokio Hotel", "???"])(
    "%p has no recognisable language",
    (query) => expect(guessLanguage(query)).toBeUndefined(),
  );
});

describe("an engine's results are judged by the words of the query", () => {
  const about = (...titles: string[]) =>
    titles.map((title, index) => ({ title, snippet: "", url: `https://example.com/${index}` }));

  test.each<[string, string, string[], boolean]>([
    ["related", "bun test runner", ["Bun's test runner", "Testing with Bun", "A runner"], false],
    ["other forms of the words", "running shoes reviewed", ["Run faster", "A shoe review", "Runners"], false],
    ["nothing to do with it", "bun test runner", ["Buy cheap watches", "Casino", "Horoscope"], true],
    [
      "only small words in common",
      "what is the capital of France",
      ["The best of the week", "What is love", "Of mice"],
      true,
    ],
    ["some unrelated", "bun test", ["Bun", "Test", "Casino"], false],
    ["mostly unrelated", "bun test", ["Bun", "Casino", "Watches"], true],
    ["accents and case", "CAFÉ", ["Cafe one", "café two", "Tea"], false],
    ["a script without spaces", "面包做法", ["如何制作面包", "家常面包的做法", "其他"], false],
    ["the same, unrelated", "面包做法", ["足球比赛", "天气预报", "新闻"], true],
    ["too few to judge", "bun test", ["Casino", "Watches"], false],
    ["no words in the query", "???", ["a", "b", "c"], false],
    ["small words alone", "the who", ["The Who", "Who is who", "The band The Who"], false],
    ["what is excluded", "jaguar -car", ["A car", "Cars", "Car dealers"], true],
    ["an operator", "site:example.com", ["One", "Two", "Three"], false],
  ])("%s", (_name, query, titles, unrelated) => expect(isUnrelated(query, about(...titles))).toBe(unrelated));

  test("words may be in the snippet or the address", () => {
    const hits = [
      { title: "One", snippet: "All about bread", url: "https://example.com/" },
      { title: "Two", snippet: "", url: "https://example.com/bread-recipes" },
      { title: "Three", snippet: "", url: "https://example.com/br%65ad" },
    ];
    expect(isUnrelated("bread", hits)).toBe(false);
  });
});
