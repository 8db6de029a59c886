// Functions that run inside a rendered page, as source text, since they are sent to the browser and share nothing with this
// program. The page is untrusted and may have replaced anything that these functions use, so none returns more than it must.
// Functions that wait return nothing or a boolean; text is measured last, by its own length, which no page can replace.

import { UNSEEN_ATTRIBUTE } from "../dom/unseen-attribute.ts";
import { IS_WATCHED } from "./scroll-watch.ts";

/** Whether the document has been parsed completely. */
export const IS_WHOLE = `() => document.readyState === "complete"`;

/** Returns true once the document has not changed for `quietMs`, or after `maxMs`. */
export const WAIT_UNTIL_QUIET = `async ({ quietMs, maxMs }) => {
  await new Promise((resolve) => {
    let timer = setTimeout(done, quietMs);
    const observer = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(done, quietMs); });
    const last = setTimeout(done, maxMs);
    function done() { observer.disconnect(); clearTimeout(timer); clearTimeout(last); resolve(); }
    observer.observe(document, { childList: true, subtree: true, characterData: true });
  });
  return true;
}`;

/**
 * Returns once an application has filled its root element, or after `maxMs`. True if there was an empty root element to wait for.
 */
export const WAIT_FOR_DRAWING = `async (maxMs) => {
  const isEmpty = () => {
    const root = document.querySelector("#root, #app, #__next, #__nuxt, #___gatsby, #svelte, #q-app, #application, app-root");
    const text = root === null ? "x" : ("" + (root.innerText || "")).trim();
    return text === "" || (text.length < 200 && /^\\W{0,9}(?:loading|please wait|initiali[sz]ing|wird geladen|chargement|cargando)/i.test(text));
  };
  let hasWaited = false;
  for (let left = maxMs; left > 0 && isEmpty(); left -= 100) {
    hasWaited = true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return hasWaited;
}`;

/**
 * Scrolls down screen by screen so that lazy content loads, then back to the top. Returns false if there is nothing to scroll, or
 * if only text is wanted and nothing would load.
 */
export const SCROLL_THROUGH = `async ({ steps, pauseMs, isForText }) => {
  if (isForText && !(${IS_WATCHED})()) return false;
  let hasMoved = false;
  for (let step = 0; step < steps; step++) {
    const before = window.scrollY;
    window.scrollBy(0, window.innerHeight);
    // The browser itself reports scrolling with the next frame, which may be too late when it is busy.
    document.dispatchEvent(new Event("scroll", { bubbles: true }));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (window.scrollY === before) break;
    hasMoved = true;
  }
  if (hasMoved) window.scrollTo(0, 0);
  return hasMoved;
}`;

/** Removes consent layers: elements that float over the page and mention cookies. */
export const DISMISS_CONSENT = `async () => {
  let count = 0;
  for (const element of document.querySelectorAll("body *")) {
    const style = getComputedStyle(element);
    if (style.position !== "fixed" && style.position !== "sticky" && element.tagName !== "DIALOG") continue;
    const text = element.innerText || "";
    if (text.length > 0 && text.length < 4000 && /cookie|consent|gdpr|privacy settings|datenschutz/i.test(text)) { element.remove(); count++; }
  }
  for (const root of [document.documentElement, document.body]) if (root && count > 0) root.style.setProperty("overflow", "visible", "important");
}`;

/** Waits for images that are loading. */
export const WAIT_FOR_IMAGES = `async (maxMs) => {
  await Promise.race([
    Promise.all([...document.images].filter((image) => !image.complete).map((image) => new Promise((resolve) => { image.onload = image.onerror = resolve; }))),
    new Promise((resolve) => setTimeout(resolve, maxMs)),
  ]);
}`;

/** The elements and the time that finding the invisible parts of one document may take. */
const MARKED_MAX = 100_000;
const MARKING_MS_MAX = 700;

/**
 * Marks the elements below `scope` that the style does not show: with all in them, or with the text directly in them. White text on
 * white counts only where no picture can be behind it.
 */
const MARK_UNSEEN = `(scope, left) => {
  const name = "${UNSEEN_ATTRIBUTE}";
  const clear = "rgba(0, 0, 0, 0)";
  const hasText = (element) => {
    for (let node = element.firstChild; node; node = node.nextSibling) if (node.nodeType === 3 && node.data.trim() !== "") return true;
    return false;
  };
  // The background that is seen behind an element, of itself or of what it is in, read once for each element.
  const grounds = new Map();
  const groundOf = (element, style) => {
    const asked = [];
    let ground = "rgb(255, 255, 255)";
    for (let at = element; at instanceof Element; at = at.parentElement) {
      const known = grounds.get(at);
      const own = known === undefined ? (at === element ? style : getComputedStyle(at)).backgroundColor : known;
      if (known === undefined) asked.push(at);
      if (known === undefined && own === clear) continue;
      ground = own;
      break;
    }
    for (const at of asked) grounds.set(at, ground);
    return ground;
  };
  const isOnItsColour = (element, style) => {
    // Few elements have the colour of their background. Looking for pictures behind them takes most of the time.
    if (groundOf(element, style) !== style.color) return false;
    let levels = 0;
    for (let at = element; at instanceof Element; at = at.parentElement, levels++) {
      const own = levels === 0 ? style : getComputedStyle(at);
      if (own.backgroundImage !== "none" || own.webkitTextFillColor !== own.color || own.position === "absolute" || own.position === "fixed") return false;
      if (levels < 8 && at.querySelector("img, video, picture, canvas, svg, iframe")) return false;
      if (own.backgroundColor !== clear) return own.backgroundColor === style.color;
    }
    return style.color === "rgb(255, 255, 255)";
  };
  const hides = (element, style) => {
    if (style.display === "none") return true;
    if (+style.opacity < 0.02) return true;
    if (style.contentVisibility === "hidden") return element.getAttribute("hidden") !== "until-found";
    if (style.clipPath.startsWith("inset(50%") || style.clipPath.startsWith("inset(100%") || style.clipPath.startsWith("circle(0")) return true;
    if (style.position === "absolute" && /^rect\\([01]px,? [01]px,? [01]px,? [01]px\\)$/.test(style.clip)) return true;
    if (/^matrix\\(0, 0, 0, 0,/.test(style.transform) || style.scale === "0") return true;
    if (parseFloat(style.textIndent) < -500) return true;
    const isFlat = (size) => parseFloat(size) === 0;
    const isCut = (flow) => flow === "hidden" || flow === "clip";
    return (isCut(style.overflowY) && isFlat(style.height) && isFlat(style.paddingTop) && isFlat(style.paddingBottom)) || (isCut(style.overflowX) && style.display !== "table-cell" && isFlat(style.width) && isFlat(style.paddingLeft) && isFlat(style.paddingRight));
  };
  const judge = (element) => {
    if (left.count-- <= 0 || performance.now() > left.until) return 3;
    if (/^(?:script|style|template|svg|link|meta|br|img|input|iframe|option|source)$/.test(element.localName)) return 2;
    const style = getComputedStyle(element);
    let mark = "";
    if (element.localName === "noscript" || hides(element, style)) mark = "all";
    else if (hasText(element) && (style.visibility !== "visible" || parseFloat(style.fontSize) <= 1 || isOnItsColour(element, style))) mark = "text";
    if (mark !== "" || element.hasAttribute(name)) marked.push([element, mark]);
    return mark === "all" ? 2 : 1;
  };
  const marked = [];
  const walker = document.createTreeWalker(scope, NodeFilter.SHOW_ELEMENT, judge);
  try {
    while (walker.nextNode() !== null && left.count > 0) {}
  } finally {
    // Marking an element in between would make the browser compute styles again.
    for (const [element, mark] of marked) {
      if (mark === "") element.removeAttribute(name);
      else element.setAttribute(name, mark);
    }
  }
}`;

/**
 * The document with open shadow roots, or null when it is longer than `max`. Frames worth reading are numbered so that their
 * text can be inserted.
 */
export const SERIALIZE = `(max) => {
  const roots = [];
  let size = 0;
  let frames = 0;
  // The length is measured before the parts are joined, since the joined text would be a second copy.
  const measure = (scope) => {
    const walker = document.createTreeWalker(scope, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT | NodeFilter.SHOW_COMMENT);
    for (let node = walker.nextNode(); node !== null && size <= max; node = walker.nextNode()) {
      // The form fields of a form may hide the form's own properties, so forms are not examined.
      if (node instanceof HTMLFormElement) continue;
      if (node.nodeType !== 1) { size += node.data.length; continue; }
      size += node.localName.length * 2 + 5;
      const { attributes } = node;
      for (let index = 0; index < attributes.length; index++) size += attributes[index].name.length + attributes[index].value.length + 4;
      if (node.localName === "iframe" && frames < 1000) {
        const box = node.getBoundingClientRect();
        if (box.width > 200 && box.height > 100) node.setAttribute("data-frame-number", String(frames++));
      }
      if (node.shadowRoot && roots.length < 5000) { roots.push(node.shadowRoot); try { mark(node.shadowRoot, left); } catch {} measure(node.shadowRoot); }
    }
  };
  const root = document.documentElement;
  let text = "";
  const left = { count: ${MARKED_MAX}, until: performance.now() + ${MARKING_MS_MAX} };
  const mark = ${MARK_UNSEEN};
  try {
    if (document.body) mark(document.body, left);
  } catch {}
  try {
    measure(document);
    if (size > max) return null;
    const open = "<html" + [...root.attributes].map((a) => " " + a.name + '="' + a.value.replace(/&/g, "&amp;").replace(/"/g, "&quot;") + '"').join("") + ">";
    text = open + (root.getHTML ? root.getHTML({ shadowRoots: roots }) : root.innerHTML) + "</html>";
  } catch {
    text = "" + (root ? root.outerHTML : "");
  }
  return text.length > max ? null : text;
}`;

/** Returns the body of a frame, up to the given length. */
export const FRAME_BODY = `(max) => {
  try {
    if (document.body) (${MARK_UNSEEN})(document.body, { count: ${MARKED_MAX}, until: performance.now() + ${MARKING_MS_MAX / 2} });
  } catch {}
  const text = "" + (document.body ? document.body.innerHTML : "");
  const cut = "" + (text.length > max ? text.slice(0, max) : text);
  return cut.length > max ? "" : cut;
}`;

/** Returns the height of the document. */
export const PAGE_HEIGHT = `() => {
  const height = +document.documentElement.scrollHeight;
  return height;
}`;

/** For browsers whose switches are not under our control: prevents connections that bypass the proxy, and pop-ups. */
export const FOREIGN_BROWSER = `for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) delete globalThis[name];
globalThis.open = () => null;`;
