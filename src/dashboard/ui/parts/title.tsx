// A page's heading. It also sets the window's title, and receives the focus when another page is opened, so that screen
// readers start there.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

let isFirst = true;

/** The heading; `actions` are placed beside it. */
export function Title({ children, actions }: { children: string; actions?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${children} · Sallyport`;
    // Screen readers read a newly loaded page from its start anyway, and an input that has the focus keeps it.
    const { activeElement } = document;
    if (!isFirst && (activeElement === null || !activeElement.matches("input, textarea, select")))
      heading.current?.focus({ preventScroll: true });
    isFirst = false;
  }, [children]);
  return (
    <div class="title">
      <h1 ref={heading} tabIndex={-1}>
        {children}
      </h1>
      {actions}
    </div>
  );
}
