// Text files as one zip archive, made as it is read: one file at a time is in memory, and nothing is made faster than the
// client takes it.

import { Zip, ZipDeflate } from "fflate";
import { pulled } from "./pulled.ts";

/** The archive. Whoever stops reading ends `files` too. */
export function zipped(
  files: AsyncIterable<{ readonly name: string; readonly text: string }>,
): ReadableStream<Uint8Array> {
  return pulled(pieces(files));
}

async function* pieces(
  files: AsyncIterable<{ readonly name: string; readonly text: string }>,
): AsyncGenerator<Uint8Array> {
  let made: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error !== null) throw error;
    made.push(chunk);
  });
  const encoder = new TextEncoder();
  for await (const { name, text } of files) {
    const file = new ZipDeflate(name);
    zip.add(file);
    file.push(encoder.encode(text), true);
    yield* made;
    made = [];
  }
  zip.end();
  yield* made;
}
