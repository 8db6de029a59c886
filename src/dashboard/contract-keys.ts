// What the API of keys answers, beside the keys themselves.

import type { KeyView, Listing } from "./contract.ts";

/** Answer of `GET keys`: a page, and how many keys there are on all of them. */
export interface KeyListing extends Listing<KeyView> {
  readonly total: number;
}

/** Answer of `POST keys/ID/rotate`. */
export interface RotatedKey {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  /** The old key works until this time, or until its own expiry. */
  readonly old_until: string;
}
