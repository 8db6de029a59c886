// Packs text files into a zip archive while it is read: only one file at a time is in memory, and the archive is
// produced no faster than the client receives it.

import { Zip, ZipDeflate } from "fflate";
import { pulled } from "./pulled.ts";

/** The archive. When the reader stops, `files` is ended too. */
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
