// A secret that is shown only once, after the action that made it.

import type { ComponentChildren } from "preact";
import { CopyButton } from "./copy.tsx";
import { useArrival } from "./focus.ts";
import { Notice } from "./notice.tsx";

/** The secret with a text about it. It receives the focus, so that its button to copy is the next stop of the keyboard. */
export function ShownOnce(props: {
  /** The name of the section. */
  label: string;
  secret: string;
  /** Completes "Copy …". */
  what: string;
  testId: string;
  /** The text above the secret. */
  notice: ComponentChildren;
  warning?: ComponentChildren;
  children?: ComponentChildren;
}) {
  const arrive = useArrival({ whole: true });
  return (
    <section class="card made" aria-label={props.label} ref={arrive}>
      <Notice kind="ok">{props.notice}</Notice>
      {props.warning !== undefined && <Notice kind="warn">{props.warning}</Notice>}
      <div class="secret">
        <code data-testid={props.testId}>{props.secret}</code>
        <CopyButton text={props.secret} what={props.what} />
      </div>
      {props.children}
    </section>
  );
}
