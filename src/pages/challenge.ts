// Tells whether a response is a bot protection page ("checking your browser") instead of the site's own.

/** Marks of the common bot protections in the first kilobytes of a page. */
const MARKS =
  /<title>\s*(?:just a moment|attention required|access denied|please wait|verify(?:ing)? you are human|are you a robot|security check|ddos-guard|pardon our interruption|bot verification|robot check)|cf-chl-|challenge-platform|_cf_chl_opt|px-captcha|perimeterx|datadome|captcha-delivery|g-recaptcha-response.{0,200}unusual traffic|_incapsula_resource|sucuri_cloudproxy|kasada|geo\.captcha|awswafcookiedomainlist|aws-waf-token/i;
const HEAD_CHARS = 20_000;
/** A page with a captcha in its own form is not a challenge; challenge pages hold hardly any text. */
const STATUSES = new Set([401, 403, 405, 406, 429, 503]);

/** Judges by status, headers and markup. */
export function isChallenge(status: number, headers: Headers, body: Uint8Array): boolean {
  if (headers.get("cf-mitigated") === "challenge") return true;
  const head = new TextDecoder("latin1").decode(body.subarray(0, HEAD_CHARS));
  if (STATUSES.has(status)) return MARKS.test(head);
  // Some bot protections answer 200.
  return (
    status === 200 &&
    body.byteLength < HEAD_CHARS &&
    /<title>\s*(?:just a moment|verify(?:ing)? you are human|robot check|ddos-guard|pardon our interruption)/i.test(
      head,
    )
  );
}
