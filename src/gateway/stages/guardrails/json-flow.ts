// Texts within a JSON text that comes in parts, as the arguments of tools do: strings are read without their escapes and written
// with them again, so that nothing hides behind an escape and what is put in breaks nothing. Numbers are texts too.

import { entryOf } from "../../../base/json-object.ts";
import type { TextFlow } from "./scan.ts";

/** What stands in no string: numbers, and in what is no JSON, anything. */
const BARE = /[^\s"{}[\],:]/;
const SIMPLE: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Leads each string and number of a JSON text through a flow of its own. What stands outside of strings is text too. */
export class JsonFlow implements TextFlow {
  readonly #create: () => TextFlow;
  #string: TextFlow | undefined;
  /** An spelled that is not complete. */
  #escape = "";
  #number = "";

  constructor(create: () => TextFlow) {
    this.#create = create;
  }

  push(text: string): string {
    let out = "";
    for (let at = 0; at < text.length; ) {
      if (this.#string !== undefined) {
        const end = this.#escape === "" ? plainEnd(text, at) : at;
        if (end > at) {
          out += written(this.#string.push(text.slice(at, end)));
          at = end;
        } else out += this.#special(text[at++]!);
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
    const rest = this.#string === undefined ? this.#numberEnd() : written(this.#string.end()) + this.#escape;
    this.#string = undefined;
    this.#escape = "";
    return rest;
  }

  /** A character of a string that is, or may be, more than itself. */
  #special(char: string): string {
    const string = this.#string!;
    if (this.#escape === "") {
      if (char === "\\") {
        this.#escape = char;
        return "";
      }
      this.#string = undefined;
      return `${written(string.end())}"`;
    }
    this.#escape += char;
    const isWhole = this.#escape[1] !== "u" || this.#escape.length === 6 || !/^\\u[\da-fA-F]{0,3}$/.test(this.#escape);
    if (!isWhole) return "";
    const spelled = this.#escape;
    this.#escape = "";
    const kind = spelled[1] ?? "";
    if (kind !== "u") return written(string.push(entryOf(SIMPLE, kind) ?? kind));
    const code = Number.parseInt(spelled.slice(2), 16);
    return written(string.push(Number.isNaN(code) || spelled.length < 6 ? spelled : String.fromCharCode(code)));
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
