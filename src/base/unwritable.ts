// Why a file or folder cannot be written, in words for the person who named it.

import { entryOf } from "./json-object.ts";

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  ENOTDIR: "a part of its path is no folder",
  EEXIST: "a file has this name",
  EISDIR: "it is a folder",
  EACCES: "the user that runs this program may not write there",
  EPERM: "the user that runs this program may not write there",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "this user's part of the disk is full",
  SQLITE_FULL: "the disk is full",
};

/** Whether a reason is known that is about writing: no room, no right, no folder. */
export function isUnwritable(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && entryOf(REASONS, code) !== undefined;
}

/** The reason, without the names of temporary files; the error's own message where it is another. */
export function unwritable(error: unknown): string {
  const { code } = error as { code?: unknown };
  const reason = typeof code === "string" ? entryOf(REASONS, code) : undefined;
  return reason ?? (error instanceof Error ? error.message : String(error));
}
