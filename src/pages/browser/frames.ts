// Inserts the bodies of frames into the page that shows them. The page is untrusted; each body is inserted in one pass, whatever
// the page contains.

/** The page with each numbered frame element replaced by the frame's body. Bodies whose frame is not found are left out. */
export function withFrames(html: string, bodies: ReadonlyMap<string, string>): string {
  let whole = html;
  for (const [number, body] of bodies) {
    const mark = whole.indexOf(`data-frame-number="${number}"`);
    const start = mark < 0 ? -1 : whole.lastIndexOf("<iframe", mark);
    const end = start < 0 ? -1 : whole.indexOf("</iframe>", mark);
    if (end < 0) continue;
    whole = `${whole.slice(0, start)}<section>${body}</section>${whole.slice(end + "</iframe>".length)}`;
  }
  return whole;
}
