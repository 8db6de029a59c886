// Asks for confirmation before an action that cannot be undone.

import { signal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";

interface Question {
  readonly title: string;
  readonly text: string;
  /** The label of the button that confirms. */
  readonly action: string;
  answer(yes: boolean): void;
}

const asked = signal<Question | undefined>(undefined);

/** Asks the user; true if the user confirms. */
export function confirmed(question: Omit<Question, "answer">): Promise<boolean> {
  asked.value?.answer(false);
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answer(yes) {
        asked.value = undefined;
        resolve(yes);
      },
    };
  });
}

/** The dialog that `confirmed` uses. The app renders it once. */
export function ConfirmDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const question = asked.value;
  useEffect(() => {
    if (question === undefined) return undefined;
    const { activeElement: before } = document;
    dialog.current?.showModal();
    // Removing a dialog without closing it does not return the focus.
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, [question]);
  if (question === undefined) return null;
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={() => question.answer(false)}>
      <h2 id={id}>{question.title}</h2>
      <p>{question.text}</p>
      <div class="row end">
        <button type="button" onClick={() => question.answer(false)}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={() => question.answer(true)}>
          {question.action}
        </button>
      </div>
    </dialog>
  );
}
