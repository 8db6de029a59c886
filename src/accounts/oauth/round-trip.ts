// The secrets of a sign-in round trip. All are derived from one random id, which only the state contains: the database stores
// its hash, with which nobody can finish someone else's sign-in.

import { randomText, sha256Hex } from "../../base/ids.ts";

/** One round trip. */
export interface TripSecrets {
  /** What the provider returns. */
  readonly state: string;
  /** The key under which the round trip is stored. */
  readonly hash: string;
  readonly codeVerifier: string;
  readonly nonce: string;
  /** Name and value of the cookie that binds the round trip to its browser. */
  readonly cookie: { readonly name: string; readonly value: string };
}

/** 190 bits. */
const ID_CHARS = 32;
const STATE = /^([0-9A-Za-z]{32})\.([\w-]{43})$/;

/** Starts a round trip. */
export function newTrip(secret: string): TripSecrets {
  return secretsOf(randomText(ID_CHARS), secret);
}

/** The round trip of a returned state; undefined if the state is not ours. The store knows whether it was used. */
export function tripOf(state: string, secret: string): TripSecrets | undefined {
  const [, id, signature] = STATE.exec(state) ?? [];
  if (id === undefined || signature === undefined) return undefined;
  const right = derive(secret, "state", id);
  return crypto.timingSafeEqual(Buffer.from(signature), Buffer.from(right)) ? secretsOf(id, secret) : undefined;
}

function secretsOf(id: string, secret: string): TripSecrets {
  return {
    state: `${id}.${derive(secret, "state", id)}`,
    hash: sha256Hex(id),
    codeVerifier: derive(secret, "verifier", id),
    nonce: derive(secret, "nonce", id),
    // Named by the round trip, so that two tabs do not interfere.
    cookie: { name: `sallyport_oauth_${sha256Hex(id).slice(0, 12)}`, value: derive(secret, "browser", id) },
  };
}

/** 43 characters: the length of a PKCE verifier. */
function derive(secret: string, purpose: string, id: string): string {
  return new Bun.CryptoHasher("sha256", secret).update(`oauth ${purpose}:${id}`).digest("base64url");
}
