// Tells whether scrolling could change a page, so that the many pages that nothing would load on the way down are read without
// it. Both functions run inside the page, as source text (see in-page.ts). A page that tampers with them loses only text of its own.

/** Where a window keeps what its page did. Not enumerable, so that pages which list their globals do not see it. */
const RECORD = `Symbol.for("scroll watch")`;
/** A page that used a timer or an animation frame this recently may be asking where it is scrolled to. */
const RAN_MS = 200;
/** A slower timer would not run while the page is scrolled. */
const TIMER_MS_MAX = 1000;

/** Tells an element that is about to be seen; it has listeners, and a property and an attribute as well. */
const SHOWING = "contentvisibilityautostatechange";

/**
 * Notes from the start of each document, frames included, what reacts to scrolling: listeners, observers, and timers, which may ask
 * for the position, or bring text while the page is scrolled. Proxies leave the functions with their names and their properties.
 */
export const WATCH_SCROLLING = `(() => {
  const record = { isWatched: false, ranMs: -1e9, dueMs: -1e9 };
  Object.defineProperty(window, ${RECORD}, { value: record });
  const { apply } = Reflect;
  const clock = performance;
  const now = performance.now;
  const around = (owner, name, note) => {
    if (owner && typeof owner[name] === "function") owner[name] = new Proxy(owner[name], { apply: (work, self, given) => { note(self, given); return apply(work, self, given); } });
  };
  const watched = () => { record.isWatched = true; };
  const ran = () => { record.ranMs = apply(now, clock, []); };
  const runs = (ms) => {
    ran();
    if (ms > ${TIMER_MS_MAX}) return;
    const dueMs = record.ranMs + (ms > 0 ? ms * 1 : 0);
    if (dueMs > record.dueMs) record.dueMs = dueMs;
  };
  around(EventTarget.prototype, "addEventListener", (self, [type]) => {
    // Elements with a scroll bar of their own are not scrolled.
    if (type == "${SHOWING}" || ((type == "scroll" || type == "scrollend") && self?.nodeType !== 1)) watched();
  });
  around(window.IntersectionObserver?.prototype, "observe", watched);
  around(window, "setInterval", (self, [work, ms]) => { if (!(ms > ${TIMER_MS_MAX})) watched(); });
  around(window, "setTimeout", (self, [work, ms]) => runs(ms));
  around(window.Scheduler?.prototype, "postTask", (self, [work, options]) => runs(options?.delay));
  for (const name of ["requestAnimationFrame", "requestIdleCallback"]) around(window, name, ran);
  const handler = Object.getOwnPropertyDescriptor(HTMLElement.prototype, "on${SHOWING}");
  if (handler?.set) {
    around(handler, "set", watched);
    Object.defineProperty(HTMLElement.prototype, "on${SHOWING}", handler);
  }
})();`;

/** Whether anything noted above, or a frame that loads in view, makes it worth scrolling. True if that is unknown. */
export const IS_WATCHED = `() => {
  const isWatched = (view) => {
    const record = view[${RECORD}];
    if (!record || record.isWatched) return true;
    const nowMs = view.performance.now();
    if (!(nowMs - record.ranMs > ${RAN_MS} && nowMs >= record.dueMs)) return true;
    for (const target of [view, view.document]) if (target.onscroll || target.onscrollend) return true;
    return holds(view.document);
  };
  // Frames in a shadow are read like others.
  const holds = (root) => {
    if (root.querySelector('iframe[loading="lazy" i], [on${SHOWING}]')) return true;
    for (const frame of root.querySelectorAll("iframe, frame, object")) {
      if (frame.contentDocument ? isWatched(frame.contentWindow) : isForeign(frame)) return true;
    }
    for (const element of root.querySelectorAll("*")) if (element.shadowRoot && holds(element.shadowRoot)) return true;
    return false;
  };
  // What a frame of another origin does is unknown. Small ones are not read.
  const isForeign = (frame) => {
    const box = frame.getBoundingClientRect();
    return frame.contentWindow !== null && box.width > 200 && box.height > 100;
  };
  try {
    return isWatched(window);
  } catch {
    return true;
  }
}`;
