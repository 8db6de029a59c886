// Compresses small answers for clients that accept it.

/** Answers below this size fit into one packet anyway. */
const BYTES_MIN = 1400;
/** Compressing more at once would delay other requests by some milliseconds. */
const BYTES_MAX = 512 * 1024;

/** Matches gzip in a list of codings, unless its quality of zero refuses it. */
const GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

/** Whether the client accepts gzip. */
export function takesGzip(request: Request): boolean {
  return GZIP.test(request.headers.get("accept-encoding") ?? "");
}

/** A response with this text, compressed if the client accepts it and it is worth it. */
export function packedResponse(
  request: Request,
  text: string,
  { status = 200, headers }: { status?: number; headers: Readonly<Record<string, string>> },
): Response {
  const varied = { ...headers, vary: "Accept-Encoding" };
  if (text.length < BYTES_MIN || text.length > BYTES_MAX || !takesGzip(request))
    return new Response(text, { status, headers: varied });
  return new Response(Bun.gzipSync(Buffer.from(text)), { status, headers: { ...varied, "content-encoding": "gzip" } });
}
