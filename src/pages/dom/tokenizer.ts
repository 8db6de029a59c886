// The parser's tokenizer, which looks for the next sign that ends a text, a name or a value instead of asking its state at each
// character. The tokens are the same.

import { Tokenizer } from "htmlparser2";

const TAB = 9;
const LINE_FEED = 10;
const FORM_FEED = 12;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const DOUBLE_QUOTE = 34;
const AMPERSAND = 38;
const SINGLE_QUOTE = 39;
const SLASH = 47;
const LESS = 60;
const EQUALS = 61;
const GREATER = 62;

/** The parts of the tokenizer that are used here. A state is asked with the character at `index`, which then moves on by one. */
interface States {
  readonly buffer: string;
  readonly offset: number;
  index: number;
  stateText(code: number): void;
  stateInTagName(code: number): void;
  stateInClosingTagName(code: number): void;
  stateInAttributeName(code: number): void;
  stateInAttributeValueDoubleQuotes(code: number): void;
  stateInAttributeValueSingleQuotes(code: number): void;
  fastForwardTo(code: number): boolean;
}

const StateMachine = Tokenizer as unknown as new (...settings: ConstructorParameters<typeof Tokenizer>) => States;

class Skipping extends StateMachine {
  override stateText(code: number): void {
    if (code === LESS || code === AMPERSAND) super.stateText(code);
    else this.#skipTo(LESS);
  }

  override stateInTagName(code: number): void {
    if (endsName(code)) super.stateInTagName(code);
    else this.#skipName();
  }

  override stateInClosingTagName(code: number): void {
    if (endsName(code)) super.stateInClosingTagName(code);
    else this.#skipName();
  }

  override stateInAttributeName(code: number): void {
    if (endsName(code)) super.stateInAttributeName(code);
    else this.#skipName();
  }

  override stateInAttributeValueDoubleQuotes(code: number): void {
    if (code === DOUBLE_QUOTE || code === AMPERSAND) super.stateInAttributeValueDoubleQuotes(code);
    else this.#skipTo(DOUBLE_QUOTE);
  }

  override stateInAttributeValueSingleQuotes(code: number): void {
    if (code === SINGLE_QUOTE || code === AMPERSAND) super.stateInAttributeValueSingleQuotes(code);
    else this.#skipTo(SINGLE_QUOTE);
  }

  override fastForwardTo(code: number): boolean {
    const { buffer, offset } = this;
    const at = buffer.indexOf(String.fromCharCode(code), this.index - offset + 1);
    this.index = offset + (at < 0 ? buffer.length - 1 : at);
    return at >= 0;
  }

  /** Skips what is neither this sign nor the start of an entity. */
  #skipTo(sign: number): void {
    const { buffer, offset } = this;
    let at = this.index - offset + 1;
    for (; at < buffer.length; at++) {
      const code = buffer.charCodeAt(at);
      if (code === sign || code === AMPERSAND) break;
    }
    this.index = offset + at - 1;
  }

  #skipName(): void {
    const { buffer, offset } = this;
    let at = this.index - offset + 1;
    while (at < buffer.length && !endsName(buffer.charCodeAt(at))) at++;
    this.index = offset + at - 1;
  }
}

/** Whether a sign can end the name of a tag or of an attribute. */
function endsName(code: number): boolean {
  return (
    code <= GREATER &&
    (code === EQUALS ||
      code === GREATER ||
      code === SLASH ||
      code === SPACE ||
      code === LINE_FEED ||
      code === TAB ||
      code === FORM_FEED ||
      code === CARRIAGE_RETURN)
  );
}

/** The tokenizer for the parser's option of this name. */
export const SkippingTokenizer = Skipping as unknown as typeof Tokenizer;
