import { expect, test } from "bun:test";
import { takesGzip } from "../../src/http/packed.ts";

test.each([
  ["gzip", true],
  ["br, GZIP;q=0.5", true],
  ["gzip; q=0.001", true],
  ["", false],
  ["br", false],
  ["gzip;q=0", false],
  ["br, gzip ; Q=0.000, identity", false],
])("accept-encoding %p: gzip is %p", (given, taken) => {
  expect(takesGzip(new Request("http://localhost/", { headers: { "accept-encoding": given } }))).toBe(taken);
});
