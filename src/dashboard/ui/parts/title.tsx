// A page's heading. It names the window too, and takes the focus when another page is opened, so that screen readers
// begin there.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

let isFirst = true;

/** The heading; `actions` stand beside it. */
export function Title({ children, actions }: { children: string; actions?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${children} · Sallyport`;
    // A page that was just loaded is read from its top anyway, and a field with the focus keeps it.
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
