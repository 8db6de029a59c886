// The secrets of a trip to a provider and back. They are all derived from one random id, which only the state carries: the
// database holds its hash, and nothing that would let a reader of it finish somebody's trip.
import { createHmac, timingSafeEqual } from "node:crypto";
import { randomText, sha256Hex } from "../../base/ids.ts";

/** One trip. */
export interface TripSecrets {
  /** What the provider hands back. */
  readonly state: string;
  /** Under which the trip is stored. */
  readonly hash: string;
  readonly codeVerifier: string;
  readonly nonce: string;
  /** Name and value of the cookie that ties the trip to the browser that began it. */
  readonly cookie: { readonly name: string; readonly value: string };
}

/** 190 bits. */
const ID_CHARS = 32;
const STATE = /^([0-9A-Za-z]{32})\.([\w-]{43})$/;

/** Begins a trip. */
export function newTrip(secret: string): TripSecrets {
  return secretsOf(randomText(ID_CHARS), secret);
}

/** The trip of a state that came back; undefined when the state is not ours. Whether it was used is the store's to say. */
export function tripOf(state: string, secret: string): TripSecrets | undefined {
  const [, id, signature] = STATE.exec(state) ?? [];
  if (id === undefined || signature === undefined) return undefined;
  const right = derive(secret, "state", id);
  return timingSafeEqual(Buffer.from(signature), Buffer.from(right)) ? secretsOf(id, secret) : undefined;
}

function secretsOf(id: string, secret: string): TripSecrets {
  return {
    state: `${id}.${derive(secret, "state", id)}`,
    hash: sha256Hex(id),
    codeVerifier: derive(secret, "verifier", id),
    nonce: derive(secret, "nonce", id),
    // Named by the trip, so that two tabs do not get in each other's way.
    cookie: { name: `sallyport_oauth_${sha256Hex(id).slice(0, 12)}`, value: derive(secret, "browser", id) },
  };
}

/** 43 characters: as long as a PKCE verifier must be. */
function derive(secret: string, purpose: string, id: string): string {
  return createHmac("sha256", secret).update(`oauth ${purpose}:${id}`).digest("base64url");
}
