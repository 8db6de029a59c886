// Turns a page of docs/ into HTML: headings get anchors, wide tables and code can be scrolled by keyboard, and links to other
// files lead to their pages here.

/** Where a link leads: an address here, or undefined where it leads out of the manual. */
export type ResolveLink = (target: string) => string | undefined;

/** The address that pages of the repository write where they mean the gateway. */
const WRITTEN_ORIGIN = "http://127.0.0.1:8787";

/** The HTML of a text of ours. `origin` takes the place of the address that it writes. */
export function markdownHtml(text: string, { resolve, origin }: { resolve: ResolveLink; origin: string }): string {
  return (
    Bun.markdown
      .html(text.replaceAll(/<!--[\s\S]*?-->\n*/g, ""), { headings: { ids: true } })
      .replaceAll(/<table>[\s\S]*?<\/table>/g, (table) => {
        const named = table.replaceAll("<th></th>", "<td></td>");
        return `<div class="scroll" role="group" tabindex="0" aria-label="Table">${named}</div>`;
      })
      // Pictures are not carried along: what they show is said.
      .replaceAll(/<img[^>]* alt="([^"]*)"[^>]*>/g, "<em>$1</em>")
      .replaceAll("<pre>", '<pre tabindex="0">')
      .replaceAll(/ href="([^"]*)"/g, (_, target: string) => {
        const address = resolve(target);
        return address === undefined ? "" : ` href="${address}"`;
      })
      .replaceAll(WRITTEN_ORIGIN, Bun.escapeHTML(origin))
  );
}
