// Reads the actions that Firecrawl's clients want done in the browser before a page is read.

import type { BrowserAction } from "../../pages/browser/browsing.ts";
import type { PictureOptions } from "../../pages/browser/read-page.ts";
import { isSelector } from "../../pages/dom/select.ts";
import { type Body, invalid, readBoolean, readInteger, readText } from "../params.ts";

/** Maximum number of actions for one page. */
export const ACTIONS_MAX = 50;
const TEXT_CHARS_MAX = 10_000;
const SCRIPT_CHARS_MAX = 50_000;
const WAIT_MS_MAX = 60_000;
const SIDE_MAX = 4096;
const PDF_FORMATS = ["A0", "A1", "A2", "A3", "A4", "A5", "A6", "Letter", "Legal", "Tabloid", "Ledger"];

/** Which actions are allowed. */
export interface ActionRules {
  /** The setting `web.actions_script`. */
  readonly allowsScript: boolean;
}

/** Reads `actions`. Throws 400. */
export function readActions(value: unknown, rules: ActionRules): BrowserAction[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid("actions", "actions must be a list.");
  if (value.length > ACTIONS_MAX) throw invalid("actions", `actions may hold at most ${ACTIONS_MAX} steps.`);
  return value.map((item: unknown, index) => {
    const at = `actions[${index}]`;
    if (typeof item !== "object" || item === null) throw invalid(at, `${at} must be an object with a type.`);
    return named(at, () => readAction(item as Body, rules));
  });
}

/** Runs `read`, and adds the action's index to the name of a refused parameter. */
function named<T>(at: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { detail, message } = error as { detail?: { param?: string | null }; message: string };
    const param = detail?.param;
    if (typeof param !== "string") throw error;
    throw invalid(`${at}.${param}`, `${at}.${message}`);
  }
}

function readAction(item: Body, { allowsScript }: ActionRules): BrowserAction {
  const { type } = item;
  switch (type) {
    case "wait":
      return readWait(item);
    case "screenshot":
      return { type, fullPage: readBoolean(item, ["fullPage"], false), ...readPicture(item) };
    case "click":
      return { type, selector: readSelector(item), all: readBoolean(item, ["all"], false) };
    case "write":
      return { type, text: readRequired(item, "text", TEXT_CHARS_MAX) };
    case "press":
      return { type, key: readRequired(item, "key", 100) };
    case "scroll":
      return { type, direction: readDirection(item), selector: readSelector(item, false) };
    case "scrape":
      return { type };
    case "executeJavascript":
      if (!allowsScript)
        throw invalid(
          "type",
          "type executeJavascript is not allowed here: the operator has not set web.actions_script.",
        );
      return { type: "script", script: readRequired(item, "script", SCRIPT_CHARS_MAX) };
    case "pdf":
      return readPdf(item);
    default:
      throw invalid(
        "type",
        "type must be one of wait, screenshot, click, write, press, scroll, scrape, executeJavascript, pdf.",
      );
  }
}

function readWait(item: Body): BrowserAction {
  const milliseconds = readInteger(item, ["milliseconds"], { min: 1, max: WAIT_MS_MAX });
  const selector = readSelector(item, false);
  if (selector !== undefined) return { type: "wait for", selector };
  if (milliseconds === undefined) throw invalid("milliseconds", "milliseconds or selector must be given.");
  return { type: "wait", milliseconds };
}

function readPdf(item: Body): BrowserAction {
  const format = readText(item, ["format"]) ?? "Letter";
  if (!PDF_FORMATS.includes(format)) throw invalid("format", `format must be one of ${PDF_FORMATS.join(", ")}.`);
  const { scale = 1 } = item;
  if (typeof scale !== "number" || !(scale >= 0.1 && scale <= 2))
    throw invalid("scale", "scale must be a number from 0.1 to 2.");
  return { type: "pdf", format, landscape: readBoolean(item, ["landscape"], false), scale };
}

/** Reads the quality and viewport of a screenshot. Throws 400. */
export function readPicture(item: Body): PictureOptions {
  const quality = readInteger(item, ["quality"], { min: 1, max: 100 });
  const { viewport } = item;
  if (viewport === undefined || viewport === null) return { quality };
  if (typeof viewport !== "object") throw invalid("viewport", "viewport must be an object of width and height.");
  return named("viewport", () => {
    const side = (name: string) => {
      const length = readInteger(viewport as Body, [name], { min: 1, max: SIDE_MAX });
      if (length === undefined) throw invalid(name, `${name} must be an integer from 1 to ${SIDE_MAX}.`);
      return length;
    };
    return { quality, viewport: { width: side("width"), height: side("height") } };
  });
}

function readDirection(item: Body): "up" | "down" {
  const direction = readText(item, ["direction"]) ?? "down";
  if (direction !== "up" && direction !== "down") throw invalid("direction", "direction must be up or down.");
  return direction;
}

function readSelector(item: Body, isRequired?: true): string;
function readSelector(item: Body, isRequired: false): string | undefined;
function readSelector(item: Body, isRequired = true): string | undefined {
  const selector = readText(item, ["selector"]);
  if (selector === undefined && !isRequired) return undefined;
  if (selector === undefined || !isSelector(selector))
    throw invalid("selector", "selector must be a CSS selector of at most 300 characters.");
  return selector;
}

function readRequired(item: Body, name: string, most: number): string {
  const text = readText(item, [name]);
  if (text === undefined || text === "" || text.length > most)
    throw invalid(name, `${name} must be a text of at most ${most} characters.`);
  return text;
}

/** The shortest time that the actions wait, to compare it with the page's time limit. */
export function waitsOf(actions: readonly BrowserAction[]): number {
  return actions.reduce((sum, action) => sum + (action.type === "wait" ? action.milliseconds : 0), 0);
}
