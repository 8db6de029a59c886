// Keeps bytes that may have to be sent again, first in memory and beyond a limit in an unlinked file. All spools
// together have a limit.

import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { prefixedId } from "../base/ids.ts";

/** The bytes of one spool that are held in memory. */
const MEMORY_BYTES_MAX = 256 * 1024;
/** The bytes of all spools on disk. */
const DISK_BYTES_MAX = 4 * 1024 ** 3;

type FileHandle = Awaited<ReturnType<typeof open>>;

/** Creates spools. */
export interface Spools {
  open(): Spool;
}

/** Spools with their files in a folder, which is created when it is needed. */
export function createSpools(folder: string, diskBytesMax = DISK_BYTES_MAX): Spools {
  let held = 0;
  const take = (bytes: number) => {
    if (held + bytes > diskBytesMax) return false;
    held += bytes;
    return true;
  };
  const give = (bytes: number) => {
    held -= bytes;
  };
  return { open: () => new Spool(folder, { take, give }) };
}

/** A sequence of bytes that can be read again from any position. */
export class Spool {
  size = 0;
  readonly #folder: string;
  readonly #room: { take(bytes: number): boolean; give(bytes: number): void };
  #memory: Buffer[] = [];
  #file: FileHandle | undefined;
  #taken = 0;
  #closed = false;

  constructor(folder: string, room: { take(bytes: number): boolean; give(bytes: number): void }) {
    this.#folder = folder;
    this.#room = room;
  }

  /** Appends the bytes; returns false, without appending, if there is no room on disk. Calls must not overlap. */
  async append(bytes: Uint8Array): Promise<boolean> {
    const size = this.size + bytes.byteLength;
    if (this.#file === undefined && size <= MEMORY_BYTES_MAX) {
      // Copied, since the bytes may be a part of a larger buffer or be reused.
      this.#memory.push(Buffer.from(bytes));
      this.size = size;
      return true;
    }
    const more = size - this.#taken;
    if (!this.#room.take(more)) return false;
    this.#taken = size;
    this.#file ??= await this.#open();
    await writeAll(this.#file, bytes, this.size);
    this.size = size;
    return true;
  }

  /** At most `bytes` from a position on; fewer at the end of a piece. */
  async read(at: number, bytes: number): Promise<Uint8Array> {
    if (this.#file !== undefined) {
      const buffer = Buffer.allocUnsafeSlow(Math.min(bytes, this.size - at));
      const { bytesRead } = await this.#file.read(buffer, 0, buffer.byteLength, at);
      return buffer.subarray(0, bytesRead);
    }
    let from = 0;
    for (const piece of this.#memory) {
      if (at < from + piece.byteLength) return piece.subarray(at - from, at - from + bytes);
      from += piece.byteLength;
    }
    return new Uint8Array();
  }

  /** Releases everything. Further calls do nothing. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#room.give(this.#taken);
    this.#memory = [];
    await this.#file?.close();
  }

  async #open(): Promise<FileHandle> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, prefixedId("upload-"));
    const file = await open(path, "wx+", 0o600);
    // The file exists only while it is open, however this process ends.
    await rm(path);
    const memory = Buffer.concat(this.#memory);
    this.#memory = [];
    await writeAll(file, memory, 0);
    return file;
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.byteLength - done, at + done);
    done += bytesWritten;
  }
}
