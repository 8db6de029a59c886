// The classes by which providers bill, as usage records and reports have them.

/** What an upstream call used of one class by which its provider bills, such as `input` or `searches`. */
export interface BilledClass {
  readonly name: string;
  /** Tokens, searches, requests, images, characters, or milliseconds of audio. */
  readonly amount: number;
  /** Undefined: the price is not known. */
  readonly costMicros: number | undefined;
}
