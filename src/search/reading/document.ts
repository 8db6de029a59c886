// Parses markup within limits that no real result page reaches. Without them, a hostile page could take minutes, since searching
// a tree and matching end tags take time in proportion to its depth.

import type { AnyNode, Document } from "domhandler";
import { lazily } from "../../base/lazily.ts";

const ELEMENTS_MAX = 50_000;
const DEPTH_MAX = 256;

/** Parses markup; undefined if it exceeds the limits. */
export function parseMarkup(text: string, { xml }: { xml: boolean }): Document | undefined {
  const { Parser, BoundedHandler } = parsing();
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

/** Loaded with the first markup. */
const parsing = lazily(() => {
  const { DomHandler, Parser }: typeof import("htmlparser2") = require("htmlparser2");
  class BoundedHandler extends DomHandler {
    #elements = 0;

    protected override addNode(node: AnyNode): void {
      if (node.type === "tag" && (++this.#elements > ELEMENTS_MAX || this.tagStack.length > DEPTH_MAX))
        throw new BeyondLimits();
      super.addNode(node);
    }
  }
  return { Parser, BoundedHandler };
});
