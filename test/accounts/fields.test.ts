// Names, addresses and notes that not every database can store are refused, naming the field.

import { expect, test } from "bun:test";
import { optionalText, requiredText } from "../../src/accounts/fields.ts";
import { ApiError } from "../../src/base/errors.ts";

test.each(["a\u0000b", "\u0000", "\ud800", "a\udc00"])("%j is refused by its field's name", (username) => {
  for (const read of [requiredText, optionalText]) {
    let thrown: unknown;
    try {
      read({ username }, "username");
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ApiError);
    const { status } = thrown as ApiError;
    expect([status, (thrown as ApiError).body()]).toMatchObject([400, { code: "invalid_request", param: "username" }]);
  }
});

test.each(["ann", "日本", "👩‍👩‍👧‍👦", "e\u0301", "\uffff"])("%j is taken as it is", (username) => {
  expect(requiredText({ username }, "username")).toBe(username);
});
