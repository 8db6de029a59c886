// The parser of pages: the library's, without what it does for parsers that are fed in pieces, and with limits for pages that would
// take quadratic time.

import { Parser } from "htmlparser2";
import { knownName } from "./known-names.ts";
import { OpenNames } from "./open-names.ts";
import { SkippingTokenizer } from "./tokenizer.ts";

/** What builds a tree of the tags and texts. */
export interface TagBuilder {
  /** The number of open tags, whether or not they created an element. */
  readonly openCount: number;
  opened(name: string): void;
  closed(name: string): void;
  isOpen(name: string): boolean;
  open(name: string, attributes: Record<string, string>): void;
  text(text: string): void;
  close(name: string): void;
}

/** Up to this number of open elements, an end tag without a start tag is handled as in browsers. */
const OPEN_SEARCHED_MAX = 1000;

/** Creates a parser of `markup`, which must be written as one piece. */
export function createParser(markup: string, builder: TagBuilder): Pick<Parser, "write" | "end" | "pause"> {
  return new PageParser(markup, builder);
}

/** The parser with those of its parts that are replaced here. */
interface Replaced extends Pick<Parser, "startIndex" | "endIndex" | "write" | "end" | "pause"> {
  attribname: string;
  /** The kinds of the open elements that are no HTML, innermost first; the last one stands for the page. */
  readonly foreignContext: readonly unknown[];
  onend(): void;
  onattribname(start: number, end: number): void;
  onclosetag(start: number, end: number): void;
  readTagName(start: number, end: number): string;
  getSlice(start: number, end: number): string;
}

const Replaceable = Parser as unknown as new (...settings: ConstructorParameters<typeof Parser>) => Replaced;

class PageParser extends Replaceable {
  readonly #markup: string;
  readonly #builder: TagBuilder;
  readonly #openNames = new OpenNames();

  constructor(markup: string, builder: TagBuilder) {
    super(
      {
        onopentag: (name, attributes) => {
          builder.opened(name);
          builder.open(name, attributes);
        },
        ontext: (text) => builder.text(text),
        onclosetag: (name) => {
          builder.closed(name);
          builder.close(name);
        },
      },
      {
        decodeEntities: true,
        lowerCaseTags: true,
        lowerCaseAttributeNames: true,
        recognizeSelfClosing: false,
        Tokenizer: SkippingTokenizer,
      },
    );
    this.#markup = markup;
    this.#builder = builder;
    Object.defineProperty(this, "stack", { value: this.#openNames });
  }

  override onend(): void {
    this.endIndex = this.startIndex;
    for (let name = this.#openNames.shift(); name !== undefined; name = this.#openNames.shift()) {
      this.#builder.closed(name);
      this.#builder.close(name);
    }
    super.onend();
  }

  /** Skips end tags without a start tag if many elements are open, as the parser would otherwise search all of them. */
  override onclosetag(start: number, end: number): void {
    if (this.#builder.openCount > OPEN_SEARCHED_MAX && !this.#builder.isOpen(this.#markup.slice(start, end))) {
      this.endIndex = end;
      this.startIndex = end + 1;
    } else super.onclosetag(start, end);
  }

  override onattribname(start: number, end: number): void {
    const known = knownName(this.#markup, start, end);
    if (known === undefined) super.onattribname(start, end);
    else {
      this.startIndex = start;
      this.attribname = known;
    }
  }

  override readTagName(start: number, end: number): string {
    // Within drawings and formulas, some names are spelled otherwise.
    const known = this.foreignContext.length === 1 ? knownName(this.#markup, start, end) : undefined;
    return known ?? super.readTagName(start, end);
  }

  override getSlice(start: number, end: number): string {
    return this.#markup.slice(start, end);
  }
}
