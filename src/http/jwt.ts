// Access tokens. They are signed with the newest key, and accepted until they expire if any key of the ring signed them. Each
// refusal has its own reason. A token names its account, but does not show whether that account still exists.

import type { Clock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { uuid } from "../base/ids.ts";

/** A current or earlier signing key. */
export interface SigningKey {
  readonly kid: string;
  readonly bytes: Uint8Array;
}

/** The valid keys. */
export interface SigningKeys {
  /** The key that signs new tokens. */
  current(): SigningKey;
  /** The current key, or an earlier one whose tokens may still be valid. */
  find(kid: string): SigningKey | undefined;
}

/** The claims of a token. */
export interface TokenClaims {
  readonly accountId: string;
  readonly sessionId: string;
}

/** Signs and checks access tokens. */
export interface AccessTokens {
  issue(claims: TokenClaims, ttlMs: number): Promise<string>;
  /** The claims of the request's bearer token. Throws `ApiError` 401 `missing_token`, `expired_token` or `invalid_token`. */
  authenticate(request: Request): Promise<TokenClaims>;
}

const ISSUER = "sallyport";
/** The audience of the tokens, which are only valid for the account endpoints. */
const AUDIENCE = "sallyport/v1/auth";
const ALGORITHM = "HS256";
/** Maximum length of a token. The gateway's own have about 350 characters, and longer ones need not be decoded. */
const TOKEN_CHARS_MAX = 4096;

/** Creates the access tokens for a ring of keys. */
export function accessTokens({ ring, clock }: { ring: SigningKeys; clock: Clock }): AccessTokens {
  let signer: { kid: string; sign: Awaited<ReturnType<typeof signerOf>> } | undefined;
  return {
    async issue({ accountId, sessionId }, ttlMs) {
      const key = ring.current();
      if (signer?.kid !== key.kid) signer = { kid: key.kid, sign: await signerOf(key) };
      const exp = Math.floor((clock.now() + ttlMs) / 1000);
      return signer.sign({ sub: accountId, sid: sessionId, jti: uuid(), exp });
    },

    async authenticate(request) {
      const token = presentedToken(request);
      // The package is loaded with the first token, because most requests use an API key.
      const { decodeProtectedHeader, errors, jwtVerify } = await import("jose");
      try {
        const key = ring.find(decodeProtectedHeader(token).kid ?? "");
        if (key === undefined) throw invalid();
        const { payload } = await jwtVerify(token, key.bytes, {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          audience: AUDIENCE,
          requiredClaims: ["sub", "sid", "jti", "exp"],
          currentDate: new Date(clock.now()),
        });
        const { sub, sid } = payload;
        if (typeof sub !== "string" || typeof sid !== "string") throw invalid();
        return { accountId: sub, sessionId: sid };
      } catch (error) {
        // The signature is checked first, so only a token of this gateway can be found to be expired.
        if (error instanceof errors.JWTExpired) {
          throw new ApiError("expired_token", "The access token has expired. Refresh it.");
        }
        throw error instanceof ApiError ? error : invalid(error);
      }
    },
  };
}

async function signerOf(key: SigningKey) {
  const { jwt } = await import("@elysiajs/jwt");
  const { access } = jwt({
    name: "access",
    secret: key.bytes,
    alg: ALGORITHM,
    kid: key.kid,
    iss: ISSUER,
    aud: AUDIENCE,
  }).decorator;
  return (claims: { sub: string; sid: string; jti: string; exp: number }): Promise<string> => access.sign(claims);
}

function presentedToken(request: Request): string {
  const header = request.headers.get("authorization");
  if (header === null) {
    throw new ApiError(
      "missing_token",
      "No access token was sent. Use the header Authorization with the value Bearer <access_token>.",
    );
  }
  const token = /^bearer\s+(\S+)\s*$/i.exec(header)?.[1];
  if (token === undefined || token.length > TOKEN_CHARS_MAX) throw invalid();
  return token;
}

function invalid(cause?: unknown): ApiError {
  return new ApiError("invalid_token", "The access token is not valid.", { cause });
}
