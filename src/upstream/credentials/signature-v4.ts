// AWS Signature Version 4 (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). It is written
// here rather than taken from a package, because this is synchronous and signs every header that is sent, as the vendor's clients do.

import type { OutgoingCall } from "./credential.ts";

/** Keys of an account, or of a session. */
export interface AccessKeys {
  readonly id: string;
  readonly secret: string;
  /** Only for sessions. */
  readonly sessionToken: string | undefined;
}

/** For what a signature is valid. */
export interface SigningScope {
  readonly region: string;
  readonly service: string;
  readonly nowMs: number;
}

/** Headers that the connection sets or that proxies change. */
const UNSIGNED = new Set(["accept-encoding", "authorization", "connection", "content-length", "user-agent"]);

/** Keys for signing change daily, so each is derived once: four of the six hashes of a signature. */
let derived: { readonly of: string; readonly key: Buffer } | undefined;

/** The headers that sign a call. All its other headers must be sent as they are. */
export function signatureV4(call: OutgoingCall, keys: AccessKeys, scope: SigningScope): Record<string, string> {
  const { host, pathname, search } = new URL(call.url);
  const time = new Date(scope.nowMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const own: Record<string, string> = {
    "x-amz-date": time,
    "x-amz-content-sha256": digestOf(call.body ?? ""),
    ...(keys.sessionToken === undefined ? {} : { "x-amz-security-token": keys.sessionToken }),
  };
  const signed = Object.entries({ ...call.headers, ...own, host })
    .filter(([name]) => !UNSIGNED.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    call.method,
    // The path is encoded once more, as it is sent.
    pathname.split("/").map(encoded).join("/"),
    canonicalQuery(search),
    ...signed.map(([name, value]) => `${name}:${value.trim().replaceAll(/\s+/g, " ")}`),
    "",
    names,
    own["x-amz-content-sha256"],
  ].join("\n");
  const day = time.slice(0, 8);
  const place = `${day}/${scope.region}/${scope.service}/aws4_request`;
  const digest = new Bun.CryptoHasher("sha256").update(canonical).digest("hex");
  const signature = hmac(signingKey(keys, day, scope), `AWS4-HMAC-SHA256\n${time}\n${place}\n${digest}`).toString(
    "hex",
  );
  return {
    ...own,
    authorization: `AWS4-HMAC-SHA256 Credential=${keys.id}/${place}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function digestOf(body: NonNullable<OutgoingCall["body"]>): string {
  const hash = new Bun.CryptoHasher("sha256");
  if (typeof body === "string" || body instanceof Uint8Array) hash.update(body);
  else for (const part of body) hash.update(part);
  return hash.digest("hex");
}

function signingKey({ secret }: AccessKeys, day: string, { region, service }: SigningScope): Buffer {
  const of = `${day}/${region}/${service}/${secret}`;
  if (derived?.of !== of) {
    const key = [day, region, service, "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secret}`);
    derived = { of, key: key as Buffer };
  }
  return derived.key;
}

function hmac(key: string | Buffer, text: string): Buffer {
  return new Bun.CryptoHasher("sha256", key).update(text).digest();
}

function canonicalQuery(search: string): string {
  if (search.length <= 1) return "";
  // By name first: `a` precedes `a1`, although `=` comes after digits.
  return [...new URLSearchParams(search)]
    .map(([name, value]) => `${encoded(name)} ${encoded(value)}`)
    .sort()
    .join("&")
    .replaceAll(" ", "=");
}

/** Everything but letters, digits and `-._~` is encoded. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
