// What is run inside a rendered page, as source text: it is sent to the browser and shares nothing with this program.

/** Resolves when the document has not changed for `quietMs`, at the latest after `maxMs`. */
export const WAIT_UNTIL_QUIET = `({ quietMs, maxMs }) => new Promise((resolve) => {
  let timer = setTimeout(done, quietMs);
  const observer = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(done, quietMs); });
  const last = setTimeout(done, maxMs);
  function done() { observer.disconnect(); clearTimeout(timer); clearTimeout(last); resolve(); }
  observer.observe(document, { childList: true, subtree: true, characterData: true });
})`;

/** Scrolls down screen by screen, so that what waits to be seen is loaded, and back to the top. */
export const SCROLL_THROUGH = `async ({ steps, pauseMs }) => {
  for (let step = 0; step < steps; step++) {
    const before = window.scrollY;
    window.scrollBy(0, window.innerHeight);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (window.scrollY === before) break;
  }
  window.scrollTo(0, 0);
}`;

/** Takes away consent layers: what floats over the page and speaks of cookies. Gives how many there were. */
export const DISMISS_CONSENT = `() => {
  let count = 0;
  for (const element of document.querySelectorAll("body *")) {
    const style = getComputedStyle(element);
    if (style.position !== "fixed" && style.position !== "sticky" && element.tagName !== "DIALOG") continue;
    const text = element.innerText || "";
    if (text.length > 0 && text.length < 4000 && /cookie|consent|gdpr|privacy settings|datenschutz/i.test(text)) { element.remove(); count++; }
  }
  for (const root of [document.documentElement, document.body]) if (root && count > 0) root.style.setProperty("overflow", "visible", "important");
  return count;
}`;

/** Waits for pictures that are on their way. */
export const WAIT_FOR_IMAGES = `(maxMs) => Promise.race([
  Promise.all([...document.images].filter((image) => !image.complete).map((image) => new Promise((resolve) => { image.onload = image.onerror = resolve; }))),
  new Promise((resolve) => setTimeout(resolve, maxMs)),
]).then(() => undefined)`;

/** The document with open shadow roots; frames worth reading are numbered so that their text can be put in. */
export const SERIALIZE = `() => {
  const roots = [];
  const collect = (scope) => {
    for (const element of scope.querySelectorAll("*")) if (element.shadowRoot && roots.length < 5000) { roots.push(element.shadowRoot); collect(element.shadowRoot); }
  };
  collect(document);
  let number = 0;
  for (const frame of document.querySelectorAll("iframe")) {
    const box = frame.getBoundingClientRect();
    if (box.width > 200 && box.height > 100) frame.setAttribute("data-frame-number", String(number));
    number++;
  }
  const root = document.documentElement;
  const open = "<html" + [...root.attributes].map((a) => " " + a.name + '="' + a.value.replace(/&/g, "&amp;").replace(/"/g, "&quot;") + '"').join("") + ">";
  return open + (root.getHTML ? root.getHTML({ shadowRoots: roots }) : root.innerHTML) + "</html>";
}`;

/** The body of a frame. */
export const FRAME_BODY = `() => document.body ? document.body.innerHTML : ""`;
