// Trying models: a chat that streams, and typed decisions.

import type { DecisionChoice, Listing } from "../../contract.ts";
import { Chat } from "../chat/chat.tsx";
import { conversationText } from "../chat/conversation.ts";
import { type ChatState, useChat } from "../chat/state.ts";
import { useLoad } from "../load.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Title } from "../parts/title.tsx";
import { Decide } from "./decide.tsx";

/** The conversation, and that of the second model where two are compared. */
function wholeText({ messages, second }: ChatState): string {
  return [messages, second.messages]
    .map((said) => said.peek())
    .filter((said) => said.length > 0)
    .map(conversationText)
    .join("\n---\n\n");
}

export function PlaygroundPage() {
  const chat = useChat();
  const { value, problem } = useLoad<Listing<DecisionChoice>>("/decision-models");
  const decisions = value.value?.data ?? [];
  // Loaded before anything is typed, since input would be lost when the tabs appear.
  const isKnown = value.value !== undefined || problem.value !== undefined;
  const clear = (
    <div class="row">
      {chat.messages.value.length > 0 && (
        <CopyButton text={() => wholeText(chat)} what="of the conversation as Markdown" label="Copy all" />
      )}
      <button type="button" disabled={chat.messages.value.length === 0} onClick={chat.clear}>
        Clear
      </button>
    </div>
  );
  return (
    <>
      <Title actions={clear}>Playground</Title>
      {isKnown && decisions.length === 0 && <Chat chat={chat} />}
      {decisions.length > 0 && (
        <Tabs
          label="What to try"
          kept="playground"
          names={["Chat", "Decisions"]}
          panel={(index) => (
            <>
              {/* Both panels stay mounted, so that switching tabs loses no input. */}
              <div hidden={index !== 0}>
                <div class="page">
                  <Chat chat={chat} />
                </div>
              </div>
              <div hidden={index !== 1}>
                <div class="page">
                  <Decide models={decisions} />
                </div>
              </div>
            </>
          )}
        />
      )}
    </>
  );
}
