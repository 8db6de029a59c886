// Converts a page of docs/ to HTML: headings get anchors, wide tables and code can be scrolled by keyboard, and links to
// other files become links to their pages.

/** The target of a link: an address here, or undefined if it is outside of the manual. */
export type ResolveLink = (target: string) => string | undefined;

/** The gateway's address in the repository's pages. */
const WRITTEN_ORIGIN = "http://127.0.0.1:8787";

/** The HTML of one of our texts. `origin` replaces the gateway's address. */
export function markdownHtml(text: string, { resolve, origin }: { resolve: ResolveLink; origin: string }): string {
  return (
    Bun.markdown
      .html(text.replaceAll(/<!--[\s\S]*?-->\n*/g, ""), { headings: { ids: true } })
      .replaceAll(/<table>[\s\S]*?<\/table>/g, (table) => {
        const named = table.replaceAll("<th></th>", "<td></td>");
        return `<div class="scroll" role="group" tabindex="0" aria-label="Table">${named}</div>`;
      })
      // Images are not included: their alternative text is shown.
      .replaceAll(/<img[^>]* alt="([^"]*)"[^>]*>/g, "<em>$1</em>")
      .replaceAll("<pre>", '<pre tabindex="0">')
      .replaceAll(/ href="([^"]*)"/g, (_, target: string) => {
        const address = resolve(target);
        return address === undefined ? "" : ` href="${address}"`;
      })
      .replaceAll(WRITTEN_ORIGIN, Bun.escapeHTML(origin))
  );
}
