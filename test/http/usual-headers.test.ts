import { describe, expect, test } from "bun:test";
import { UsualHeaders } from "../../src/http/usual-headers.ts";

const FIXED = { "content-type": "application/json", "access-control-allow-origin": "*" };

describe("the headers of answers, one after the other", () => {
  const rows: [what: string, answers: Record<string, string>[]][] = [
    [
      "the same names with other values",
      [
        { "x-a": "1", "x-b": "2" },
        { "x-a": "3", "x-b": "4" },
      ],
    ],
    ["a name less", [{ "x-a": "1", "x-b": "2" }, { "x-a": "3" }]],
    ["a name more", [{ "x-a": "1" }, { "x-a": "3", "x-b": "4" }]],
    ["another name", [{ "x-a": "1" }, { "x-b": "2" }, { "x-a": "3" }]],
    [
      "another order",
      [
        { "x-a": "1", "x-b": "2" },
        { "x-b": "3", "x-a": "4" },
      ],
    ],
    ["no name of their own", [{ "x-a": "1" }, {}, {}, { "x-a": "2" }]],
    ["a fixed name", [{ "content-type": "text/plain" }, {}, { "content-type": "application/x-ndjson" }]],
  ];
  test.each(rows)("%s", (_what, answers) => {
    const made = new UsualHeaders(FIXED, "request-id");
    const responses = answers.map((own, at) => new Response("{}", { headers: made.of(`r${at}`, own) }));
    // All are read after the last was made: none may have changed with it.
    expect(responses.map(({ headers }) => headers.toJSON())).toEqual(
      answers.map((own, at) => ({ ...FIXED, "x-request-id": `r${at}`, "request-id": `r${at}`, ...own })),
    );
  });

  test("after a value that no header can have", () => {
    const made = new UsualHeaders(FIXED, undefined);
    expect(() => made.of("r0", { "x-a": "1", "x-b": "\n\u0000" })).toThrow();
    expect(made.of("r1", { "x-a": "2", "x-b": "3" }).toJSON()).toEqual({
      ...FIXED,
      ...{ "x-request-id": "r1", "x-a": "2", "x-b": "3" },
    });
    expect(made.of("r2", {}).toJSON()).toEqual({ ...FIXED, "x-request-id": "r2" });
  });
});
