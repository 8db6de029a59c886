// Texts within a JSON text that comes in parts, as the arguments of tools do: strings are read without their escapes and written
// with them again, so that nothing hides behind an escape and what is put in breaks nothing. Numbers are texts too.

import { entryOf } from "../../../base/json-object.ts";
import type { TextFlow } from "./scan.ts";

/** What stands in no string: numbers, and in what is no JSON, anything. */
const BARE = /[^\s"{}[\],:]/;
const HEX = /^[\da-fA-F]$/;
const SIMPLE: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Leads each string and number of a JSON text through a flow of its own. What stands outside of strings is text too. */
export class JsonFlow implements TextFlow {
  readonly #create: () => TextFlow;
  #string: TextFlow | undefined;
  /** An escape that is not complete. */
  #escape = "";
  #number = "";

  constructor(create: () => TextFlow) {
    this.#create = create;
  }

  push(text: string): string {
    let out = "";
    for (let at = 0; at < text.length; ) {
      if (this.#string !== undefined) {
        // One text for the whole run: a flow looks through what it is given as often as it is given something.
        const { plain, end } = this.#run(text, at);
        if (plain !== "") out += written(this.#string.push(plain));
        if (text[end] === '"') out += `${this.#stringEnd()}"`;
        at = end + 1;
        continue;
      }
      const char = text[at++]!;
      if (BARE.test(char)) {
        this.#number += char;
        continue;
      }
      out += this.#numberEnd();
      if (char === '"') this.#string = this.#create();
      out += char;
    }
    return out;
  }

  end(): string {
    const rest = this.#string === undefined ? this.#numberEnd() : this.#stringEnd() + this.#escape;
    this.#escape = "";
    return rest;
  }

  #stringEnd(): string {
    const rest = written(this.#string!.end());
    this.#string = undefined;
    return rest;
  }

  /** What a string says from a place on, up to the quote that ends it or the end of the text. */
  #run(text: string, from: number): { readonly plain: string; readonly end: number } {
    const parts: string[] = [];
    let at = from;
    while (at < text.length) {
      if (this.#escape === "") {
        const end = plainEnd(text, at);
        if (end > at) parts.push(text.slice(at, end));
        at = end;
        if (at === text.length || text[at] === '"') break;
      }
      parts.push(this.#escaped(text[at++]!));
    }
    return { plain: parts.join(""), end: at };
  }

  /** A character of an escape; what the escape stands for once it is complete. */
  #escaped(char: string): string {
    this.#escape += char;
    const { length } = this.#escape;
    if (length === 1 || (this.#escape[1] === "u" && (length === 2 || (length < 6 && HEX.test(char))))) return "";
    const spelled = this.#escape;
    this.#escape = "";
    const kind = spelled[1]!;
    if (kind !== "u") return entryOf(SIMPLE, kind) ?? kind;
    // What is no escape stands for itself.
    return length === 6 && HEX.test(char) ? String.fromCharCode(Number.parseInt(spelled.slice(2), 16)) : spelled;
  }

  #numberEnd(): string {
    const number = this.#number;
    if (number === "") return "";
    this.#number = "";
    const flow = this.#create();
    const text = flow.push(number) + flow.end();
    return text === number ? number : JSON.stringify(text);
  }
}

/** The flow of a JSON text, with whether it changed anything: escapes need not be written anew where it did not. */
export function notingJson(create: () => TextFlow): { readonly flow: TextFlow; isChanged(): boolean } {
  let isChanged = false;
  const noting = (): TextFlow => {
    const inner = create();
    let before = "";
    let after = "";
    const noted = (passed: string) => {
      after += passed;
      return passed;
    };
    return {
      push(part) {
        before += part;
        return noted(inner.push(part));
      },
      end() {
        const passed = noted(inner.end());
        isChanged ||= before !== after;
        return passed;
      },
    };
  };
  return { flow: new JsonFlow(noting), isChanged: () => isChanged };
}

/** Where the characters of a string end that stand for themselves. */
function plainEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '"' || char === "\\") return at;
  }
  return text.length;
}

function written(text: string): string {
  return text === "" ? "" : JSON.stringify(text).slice(1, -1);
}
