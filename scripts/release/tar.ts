// Tar archives whose bytes depend on their content alone.

import { buffer } from "node:stream/consumers";
import { pack } from "tar-stream";

/** A file of an archive. */
export interface TarFile {
  readonly name: string;
  readonly mode: number;
  readonly bytes: Uint8Array;
}

/** An archive without times, users and groups. */
export async function tarOf(files: readonly TarFile[]): Promise<Uint8Array<ArrayBuffer>> {
  const archive = pack();
  const all = buffer(archive);
  const owner = { uid: 0, gid: 0, mtime: new Date(0) };
  for (const { name, mode, bytes } of files) archive.entry({ name, mode, ...owner }, Buffer.from(bytes));
  archive.finalize();
  return new Uint8Array(await all);
}
