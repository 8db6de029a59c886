// Checks hostile schemas in a thread of its own, and measures. Its heap is small: to collect the garbage of a process in which many
// tests have run takes a second each time.

import { fieldNames } from "../../../src/web/extract/fields.ts";
import { checkSchema } from "../../../src/web/extract/schema.ts";
import { SchemaError } from "../../../src/web/extract/schema-error.ts";
import { longestStep } from "../../support/steps.ts";
import { HOSTILE, many } from "./hostile-schemas.ts";

/** What the checks of a schema took. */
export interface SchemaCost {
  /** The shortest of several checks' longest steps. */
  readonly longestMs: number;
  /** What one check leaves in memory. */
  readonly heldBytes: number;
}

declare const self: {
  onmessage: (event: MessageEvent<number>) => void;
  postMessage(message: SchemaCost | string): void;
};

self.onmessage = async ({ data: at }) => {
  try {
    self.postMessage(await costOf(HOSTILE[at]![1]));
  } catch (error) {
    self.postMessage(String(error));
  }
};

async function costOf(schema: object): Promise<SchemaCost> {
  const text = JSON.stringify(schema);
  const copies = many(10, () => JSON.parse(text) as object);
  Bun.gc(true);
  const before = process.memoryUsage().heapUsed;
  let longestMs = Number.POSITIVE_INFINITY;
  for (const copy of copies) {
    const step = await longestStep(() => {
      try {
        fieldNames(checkSchema(copy));
      } catch (error) {
        if (!(error instanceof SchemaError)) throw error;
      }
    });
    longestMs = Math.min(longestMs, step.longestMs);
  }
  Bun.gc(true);
  const heldBytes = (process.memoryUsage().heapUsed - before) / copies.length;
  // The copies are held until here.
  return { longestMs, heldBytes: copies.length === 0 ? 0 : heldBytes };
}
