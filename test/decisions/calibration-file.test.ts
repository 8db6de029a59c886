import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCalibrationFile } from "../../src/decisions/calibration/file.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

test.each<[string, string | undefined, RegExp]>([
  ["is not there", undefined, /^there is no calibration file /],
  ["is no JSON", '{"buckets": ', /is not JSON: ./],
  ["is something else", "[1, 2]", /is not a calibration file$/],
  ["is too large", " ".repeat(1024 * 1024 + 1), /is too large/],
])("a file that %s says so", async (name, text, message) => {
  const file = join(folder, `${name}.json`);
  if (text !== undefined) writeFileSync(file, text);
  await expect(readCalibrationFile(file)).rejects.toThrow(message);
  await expect(readCalibrationFile(file)).rejects.toThrow(file);
});
