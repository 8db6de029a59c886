// Packs text files into a zip archive while it is read: only one file at a time is in memory, and the archive is
// produced no faster than the client receives it.

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
  // Loaded with the first archive: its tables take more time and memory than all else at the start.
  const { Zip, ZipDeflate } = await import("fflate");
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
