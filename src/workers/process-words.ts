// What the program and its process for threads share.

/** The argument that starts the program as the process in which threads run. */
export const THREADS_PROCESS_WORD = "threads-process";

/** A task for a thread without its large body, which comes before it. */
export interface BodilessTask {
  readonly message: Readonly<Record<string, unknown>>;
  readonly input: Readonly<Record<string, unknown>>;
  /** The member of the input that is the body. */
  readonly member: string;
}

/**
 * Messages to the process. Tasks come in pieces, so that the sender never writes for long: serialized, or the body of a task, of
 * which the last piece brings the rest. Packed ones are compressed as a whole.
 */
export type ToProcess =
  | { readonly start: number; readonly path: string; readonly url: string }
  | {
      readonly to: number;
      readonly piece: Uint8Array;
      readonly isLast: boolean;
      readonly isPacked: boolean;
      readonly task?: BodilessTask | undefined;
    }
  | { readonly end: number };

/** Messages from the process. */
export type FromProcess =
  /** It is ready. Its version is another one after the program's file was replaced. */
  | { readonly ready: string }
  | { readonly from: number; readonly data: unknown }
  | { readonly failed: number; readonly message: string };
