// Puts the bodies of frames into the page that shows them. The page is untrusted: one pass for each body, whatever it
// contains.

/** The page with each numbered frame's element replaced by its body; a frame that cannot be found is left out. */
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
