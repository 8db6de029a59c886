// The complete chat of the playground.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Listing, ModelChoice } from "../../contract.ts";
import { useEscape } from "../escape.ts";
import { useLoad } from "../load.ts";
import { Code } from "../parts/copy.tsx";
import { Notice, say, unsay } from "../parts/notice.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { REQUEST_CODES } from "../request-code.ts";
import { baseUrl, freshKey } from "../session.ts";
import { ComparedTurns } from "./compared.tsx";
import { Composer } from "./composer.tsx";
import { type Message, type Settings, SettingsProblem } from "./conversation.ts";
import { CHAT_FORMATS, codeBody } from "./formats.ts";
import { type LaneView, Turns } from "./messages.tsx";
import { ChatSettings, chosenModel } from "./settings.tsx";
import { type ChatState, isBusy, type Lane } from "./state.ts";

/** Settings, conversation and composer. */
export function Chat({ chat }: { chat: ChatState }) {
  const models = useLoad<Listing<ModelChoice>>("/models");
  const list = models.value.value?.data ?? [];
  const model = chosenModel(list, chat.settings.value);
  const second = list.find(({ id, usable }) => usable && id === chat.settings.value.compare);
  const busy = isBusy(chat);
  const follow = useFollow([chat.messages.value, chat.second.messages.value], busy);
  useEscape(busy, chat.stop);
  const isTold = useRef(false);
  const withModel = (chosen: ModelChoice | undefined, act: (model: ModelChoice) => Promise<void>) => {
    if (chosen === undefined) {
      // What was typed stays, so that it can be sent later.
      const isLoaded = models.value.value !== undefined;
      say(isLoaded ? "There is no model that you can use." : "The models are not loaded yet. Send it again.", "warn");
      isTold.current = true;
      return;
    }
    if (isTold.current) unsay();
    isTold.current = false;
    follow.start();
    void act(chosen);
  };
  const laneOf = (lane: Lane, of: ModelChoice | undefined): LaneView => ({
    messages: lane.messages.value,
    isBusy: lane.running.value !== undefined,
    list,
    answerCalls: (results) => withModel(of, (one) => chat.answerCalls(lane, one, results)),
    retry: () => withModel(of, (one) => chat.retry(lane, one)),
    edit:
      busy || model === undefined
        ? undefined
        : (question, text) => {
            follow.start();
            return chat.edit({ ...question, text }, { first: model, second });
          },
  });
  return (
    <>
      {models.problem.value !== undefined && <Notice kind="danger">{models.problem.value}</Notice>}
      <ChatSettings chat={chat} list={list} model={model} />
      {model !== undefined && <AsCode chat={chat} model={model} />}
      {chat.settings.value.compare === "" ? (
        <Turns {...laneOf(chat, model)} />
      ) : (
        <ComparedTurns
          first={laneOf(chat, model)}
          second={laneOf(chat.second, second)}
          count={chat.sharedCount.value}
        />
      )}
      {chat.isTooLarge.value && (
        <Notice kind="warn">This conversation is too large to be restored completely after a reload.</Notice>
      )}
      <Composer chat={chat} send={() => withModel(model, (first) => chat.send({ first, second }))}>
        {busy && !follow.isFollowing && (
          <button type="button" class="to-end" onClick={follow.start}>
            To the end
          </button>
        )}
      </Composer>
    </>
  );
}

/** Within this distance of the end, the reader counts as reading the end. */
const NEAR_PX = 80;

/** Scrolls to the end of a growing answer until the reader scrolls up. */
function useFollow(grown: readonly unknown[], isBusy: boolean): { readonly isFollowing: boolean; start(): void } {
  const isFollowing = useSignal(true);
  const lastTop = useRef(0);
  useEffect(() => {
    const look = () => {
      const { scrollHeight } = document.documentElement;
      const isNear = scrollY + innerHeight >= scrollHeight - NEAR_PX;
      // Only the reader scrolls up; growth of the answer does not.
      if (isNear) isFollowing.value = true;
      else if (scrollY < lastTop.current) isFollowing.value = false;
      lastTop.current = scrollY;
    };
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, []);
  const toEnd = () => scrollTo(0, document.documentElement.scrollHeight);
  const wasBusy = useRef(isBusy);
  useLayoutEffect(() => {
    // The end of an answer brings the buttons below it.
    if ((isBusy || wasBusy.current) && isFollowing.peek()) toEnd();
    wasBusy.current = isBusy;
  }, [...grown, isBusy]);
  return {
    isFollowing: isFollowing.value,
    start: () => {
      isFollowing.value = true;
      toEnd();
    },
  };
}

/** Computed only while it is visible, since a streaming answer would compute it again with every word. */
function AsCode({ chat, model }: { chat: ChatState; model: ModelChoice }) {
  const isOpen = useSignal(false);
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>This request as code</summary>
      {isOpen.value && (
        <Tabs
          label="Language"
          names={REQUEST_CODES.map(({ name }) => name)}
          panel={(index) => {
            const code = REQUEST_CODES[index] ?? REQUEST_CODES[0];
            const body = bodyFor(code.format, { chat, model });
            if (body instanceof SettingsProblem) return <Notice kind="danger">{body.message}</Notice>;
            const parts = { base: baseUrl.value, key: freshKey.value ?? "sk-…" };
            return <Code text={code.text(body, parts)} what="the request" />;
          }}
        />
      )}
    </details>
  );
}

function bodyFor(
  slug: Settings["format"],
  { chat, model }: { chat: ChatState; model: ModelChoice },
): Readonly<Record<string, unknown>> | SettingsProblem {
  const format = CHAT_FORMATS.find((one) => one.slug === slug) ?? CHAT_FORMATS[0];
  const { text, images } = chat.draft.value;
  const next: Message = { id: 0, role: "user", text: text.trim() || "Hello!", images };
  const said = chat.messages.value;
  try {
    const settings = { ...chat.settings.value, model: model.id };
    return codeBody(format.body(settings, said.at(-1)?.role === "user" ? said : [...said, next]));
  } catch (error) {
    if (error instanceof SettingsProblem) return error;
    throw error;
  }
}
