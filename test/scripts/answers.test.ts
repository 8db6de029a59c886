import { expect, test } from "bun:test";
import { undocumented } from "../../scripts/answers.ts";

test("a failure that the document does not have is named once", () => {
  const strange = "POST /v1/scrape 418 scrape_failed";
  const seen = ["POST /v1/scrape 401 missing_api_key", strange, "POST /v1/scrape 400 teapot", strange, ""].join("\n");
  expect(undocumented(seen)).toEqual(["POST /v1/scrape 400 teapot", strange]);
});

test("what is in no document is left out", () => {
  const seen = [
    "POST /dashboard/api/login 401 none",
    "POST /v1/scrape 499 none",
    "GET /v1/models/:id 404 route_not_found",
    "GET /v1/upstream/* 418 none",
    "GET /health 503 none",
  ];
  expect(undocumented(seen.join("\n"))).toEqual([]);
});

test("only addresses with parameters may answer as the router does, and nothing answers that it is not built", () => {
  const seen = ["GET /v1/crawl/:id 501 not_implemented", "GET /v1/models 404 route_not_found"];
  expect(undocumented(seen.join("\n"))).toEqual(seen);
});
