// Tells whether a response is the page of a bot protection ("checking your browser") instead of the site's own page.

/** Text that common bot protections have in the first kilobytes of their pages. */
const MARKS =
  /<title>\s*(?:just a moment|attention required|access denied|please wait|verify(?:ing)? you are human|are you a robot|security check|ddos-guard|pardon our interruption|bot verification|robot check)|cf-chl-|challenge-platform|_cf_chl_opt|px-captcha|perimeterx|datadome|captcha-delivery|g-recaptcha-response.{0,200}unusual traffic|_incapsula_resource|sucuri_cloudproxy|kasada|geo\.captcha|awswafcookiedomainlist|aws-waf-token/i;
const HEAD_CHARS = 20_000;
/**
 * Statuses of challenge pages. With other statuses the marks prove little, since a site may have a captcha in a form of its own.
 */
const STATUSES = new Set([401, 403, 405, 406, 429, 503]);

/** Judges by status, headers and markup. */
export function isChallenge(status: number, headers: Headers, body: Uint8Array): boolean {
  if (headers.get("cf-mitigated") === "challenge") return true;
  const head = new TextDecoder("latin1").decode(body.subarray(0, HEAD_CHARS));
  if (STATUSES.has(status)) return MARKS.test(head);
  // Some bot protections answer with status 200.
  return (
    status === 200 &&
    body.byteLength < HEAD_CHARS &&
    /<title>\s*(?:just a moment|verify(?:ing)? you are human|robot check|ddos-guard|pardon our interruption)/i.test(
      head,
    )
  );
}

/** Whether a status refuses the page to this gateway. */
export function refusesPage(status: number): boolean {
  return status === 401 || status === 403 || status === 429;
}

/** What a client is told of a refused page. */
export function refusalText(status: number, challenged: boolean): string {
  return challenged
    ? "The site is behind a bot protection that did not let this gateway in."
    : `The site refuses to show this page (${status}).`;
}
