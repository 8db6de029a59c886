// What the program and its process for threads share.

/** The argument that starts the program as the process in which threads run. */
export const THREADS_PROCESS_WORD = "threads-process";

/**
 * Messages to the process. Tasks come serialized and in pieces, so that the sender never writes for long. Packed ones are
 * compressed as a whole.
 */
export type ToProcess =
  | { readonly start: number; readonly path: string; readonly url: string }
  | { readonly to: number; readonly piece: Uint8Array; readonly isLast: boolean; readonly isPacked: boolean }
  | { readonly end: number };

/** Messages from the process. */
export type FromProcess =
  /** It is ready. Its version is another one after the program's file was replaced. */
  | { readonly ready: string }
  | { readonly from: number; readonly data: unknown }
  | { readonly failed: number; readonly message: string };
