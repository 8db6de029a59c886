// The form for a message: text and pictures. It stays on the screen, with the button that stops an answer.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Icon } from "../parts/icon.tsx";
import { say } from "../parts/notice.tsx";
import { type ChatState, isBusy } from "./state.ts";

/** The limit of formats and providers; a phone's photograph has about half this size. */
const IMAGE_BYTES_MAX = 8 * 1024 * 1024;
const IMAGES_MAX = 8;
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** The form; `children` are placed above it. */
export function Composer({
  chat,
  send,
  children,
}: {
  chat: ChatState;
  send: () => void;
  children?: ComponentChildren;
}) {
  const { draft } = chat;
  const add = async (files: readonly File[]) => {
    const images = await Promise.all(files.slice(0, IMAGES_MAX - draft.value.images.length).map(dataAddress));
    const good = images.filter((image) => image !== undefined);
    if (good.length < files.length)
      say("Pictures must be PNG, JPEG, GIF or WebP, at most eight of up to 8 MB each.", "warn");
    chat.type({ ...draft.value, images: [...draft.value.images, ...good] });
  };
  return (
    <div class="bottom">
      {children}
      <Pictures chat={chat} />
      <form
        class="composer"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <div class="field">
          <label for="message" class="off-screen">
            Message
          </label>
          <textarea
            id="message"
            rows={3}
            placeholder="Write a message. Enter sends, Shift+Enter starts a new line."
            value={draft.value.text}
            onInput={(event) => chat.type({ ...draft.value, text: event.currentTarget.value })}
            onPaste={(event) => {
              const files = imagesOf(event.clipboardData);
              if (files.length === 0) return;
              event.preventDefault();
              void add(files);
            }}
            onKeyDown={(event) => {
              // While an input method composes a word, Enter belongs to it.
              if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
              event.preventDefault();
              send();
            }}
          />
        </div>
        <div class="composer-buttons">
          <AddPictures add={add} />
          {isBusy(chat) ? (
            <button type="button" onClick={chat.stop}>
              <Icon name="stop" />
              Stop
            </button>
          ) : (
            <button type="submit" class="primary">
              Send
            </button>
          )}
        </div>
      </form>
    </div>
  );
}

function AddPictures({ add }: { add: (files: readonly File[]) => Promise<void> }) {
  const chosen = useSignal(0);
  return (
    <label class="button attach">
      <Icon name="plus" />
      Picture
      {/* A new field each time, so that the same file can be chosen again. */}
      <input
        key={chosen.value}
        type="file"
        multiple
        accept={IMAGE_TYPES.join(",")}
        class="off-screen"
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          chosen.value++;
          void add(files);
        }}
      />
    </label>
  );
}

function Pictures({ chat }: { chat: ChatState }) {
  const { images } = chat.draft.value;
  if (images.length === 0) return null;
  const remove = (at: number) => chat.type({ ...chat.draft.value, images: images.filter((_, index) => index !== at) });
  return (
    <ul class="pictures" aria-label="Pictures to send">
      {images.map((src, index) => (
        <li key={index}>
          <img src={src} alt={`To send: ${index + 1}`} />
          <button type="button" class="quiet" aria-label={`Remove picture ${index + 1}`} onClick={() => remove(index)}>
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

function imagesOf(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
}

/** The picture as a `data:` URL; undefined for files that are not pictures or are too large. */
function dataAddress(file: File): Promise<string | undefined> {
  if (!IMAGE_TYPES.includes(file.type) || file.size > IMAGE_BYTES_MAX) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(typeof reader.result === "string" ? reader.result : undefined);
    reader.onerror = () => resolve(undefined);
    reader.readAsDataURL(file);
  });
}
