// Markup as a tree, within limits that no page of results comes near. A hostile page would else cost minutes: searching a
// tree, and finding what an end tag ends, take time by depth.

import { type AnyNode, type Document, DomHandler } from "domhandler";
import { Parser } from "htmlparser2";

const ELEMENTS_MAX = 50_000;
const DEPTH_MAX = 256;

/** Parses markup; undefined when it is beyond the limits. */
export function parseMarkup(text: string, { xml }: { xml: boolean }): Document | undefined {
  const handler = new BoundedHandler();
  const parser = new Parser(handler, { xmlMode: xml, decodeEntities: true });
  try {
    parser.write(text);
    parser.end();
  } catch (error) {
    if (error instanceof BeyondLimits) return undefined;
    throw error;
  }
  return handler.root;
}

class BeyondLimits extends Error {}

class BoundedHandler extends DomHandler {
  #elements = 0;

  protected override addNode(node: AnyNode): void {
    if (node.type === "tag" && (++this.#elements > ELEMENTS_MAX || this.tagStack.length > DEPTH_MAX))
      throw new BeyondLimits();
    super.addNode(node);
  }
}
