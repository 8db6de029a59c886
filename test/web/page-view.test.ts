import { expect, test } from "bun:test";
import type { LoadedPage } from "../../src/pages/load.ts";
import { pageView } from "../../src/web/page-view.ts";

const PAGE: LoadedPage = {
  url: "https://a.example/",
  status: 200,
  rendered: false,
  markdown: "Text",
  allLinks: "",
  needsScript: undefined,
  metadata: { title: "", description: "", language: "" },
};

test("a page warns of everything that its limits left out", () => {
  expect(pageView({ ...PAGE, omissions: ["Rows were left out.", "Links were left out."] }, ["markdown"])).toMatchObject(
    {
      warning: "Rows were left out. Links were left out.",
      metadata: { omissions: ["Rows were left out.", "Links were left out."] },
    },
  );
});

test("the metadata tell how good the choice of main content probably is", () => {
  expect(pageView({ ...PAGE, quality: 0.9264 }, ["markdown"]).metadata).toMatchObject({ extraction_quality: 0.93 });
  expect(pageView(PAGE, ["markdown"]).metadata).not.toHaveProperty("extraction_quality");
});

test("a whole page has no warning", () => {
  expect(pageView(PAGE, ["markdown"])).not.toHaveProperty("warning");
  expect(pageView(PAGE, ["markdown"]).metadata).not.toHaveProperty("omissions");
});
