// The credentials of clouds have shapes by which they are hidden in any text, since they are fetched and not configured.

import { expect, test } from "bun:test";
import { makeRedactor, REDACTED } from "../../src/telemetry/redact.ts";

test.each([
  ["an account's key", "AKIAIOSFODNN7EXAMPLE"],
  ["a session's key", "ASIAIOSFODNN7EXAMPLE"],
  ["an access token", "ya29.a0Abc_DEF-ghi"],
  ["an access token of a machine", "ya29.c.b0Aaek_9x-Zz"],
])("a credential of a cloud is redacted without being known: %s", (_name, secret) => {
  expect(makeRedactor([])(`refused ${secret}, as before`)).toBe(`refused ${REDACTED}, as before`);
});
