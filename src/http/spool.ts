// Bytes that must be sent again, in memory while they are few and else in a file that nothing finds by its name. Of all
// spools together there is a limit.

import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { prefixedId } from "../base/ids.ts";

/** What is held in memory of one. */
const MEMORY_BYTES_MAX = 256 * 1024;
/** All of them on disk. */
const DISK_BYTES_MAX = 4 * 1024 ** 3;

type FileHandle = Awaited<ReturnType<typeof open>>;

/** Makes spools. */
export interface Spools {
  open(): Spool;
}

/** Spools with their files in a folder, which is made when it is needed. */
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

/** Bytes in order, to be read again from any place. */
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

  /** Appends; false, and nothing is appended, when there is no room on disk. One call at a time. */
  async append(bytes: Uint8Array): Promise<boolean> {
    const size = this.size + bytes.byteLength;
    if (this.#file === undefined && size <= MEMORY_BYTES_MAX) {
      // What came in may be a part of a larger buffer, or be used again.
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

  /** At most `bytes` from a place on; fewer at the end of a piece. */
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

  /** Gives everything back. Again, that does nothing. */
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
    // It lives as long as it is open, whatever becomes of this process.
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
