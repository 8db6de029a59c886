// A message of the user in a conversation, which can be edited: the conversation then continues from there.

import { useSignal } from "@preact/signals";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { Message } from "./conversation.ts";

/** A message of the user. */
export type UserMessage = Extract<Message, { role: "user" }>;

/** A long message is named by its beginning. */
const NAME_CHARS = 40;

/** Its text and pictures. Without `edit` it cannot be edited now; `edit` returns false if the new text cannot be sent. */
export function QuestionView(props: { message: UserMessage; edit: ((text: string) => boolean) | undefined }) {
  const { message, edit } = props;
  const isEdited = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  if (isEdited.value)
    return (
      <EditForm
        message={message}
        send={(text) => {
          if (edit?.(text) !== true) return;
          // The form leaves the page with the message that it replaces.
          document.getElementById("message")?.focus();
        }}
        cancel={() => {
          isEdited.value = false;
          // The button returns with the next rendering.
          requestAnimationFrame(() => button.current?.focus());
        }}
      />
    );
  return (
    <>
      <div class="said user">
        {message.text}
        {message.images.length > 0 && (
          <span class="pictures">
            {message.images.map((src, index) => (
              <img key={index} src={src} alt={`Sent: ${index + 1}`} />
            ))}
          </span>
        )}
      </div>
      <button
        ref={button}
        type="button"
        class="quiet edit"
        aria-label={`Edit the message ${message.text.slice(0, NAME_CHARS)}`}
        disabled={edit === undefined}
        onClick={() => (isEdited.value = true)}
      >
        Edit
      </button>
    </>
  );
}

function EditForm(props: { message: UserMessage; send: (text: string) => void; cancel: () => void }) {
  const { text, images } = props.message;
  const typed = useSignal(text);
  const isEmpty = typed.value.trim() === "" && images.length === 0;
  const area = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const { current } = area;
    current?.focus();
    current?.setSelectionRange(current.value.length, current.value.length);
  }, []);
  const send = () => {
    if (!isEmpty) props.send(typed.value.trim());
  };
  return (
    <form
      class="card"
      aria-label="Edit the message"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        props.cancel();
      }}
    >
      <div class="field">
        <label for={id}>Your message</label>
        <textarea
          ref={area}
          id={id}
          rows={Math.min(12, Math.max(3, text.split("\n").length))}
          aria-describedby={`${id}-hint`}
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            // While an input method composes a word, Enter belongs to it.
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
        <p class="hint" id={`${id}-hint`}>
          The conversation continues from here: what follows this message is removed.
        </p>
      </div>
      <div class="row">
        <button type="submit" class="primary" disabled={isEmpty}>
          Send again
        </button>
        <button type="button" onClick={props.cancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
