// Trying models: a chat that streams, and typed decisions.

import type { DecisionChoice, Listing } from "../../contract.ts";
import { Chat } from "../chat/chat.tsx";
import { useChat } from "../chat/state.ts";
import { useLoad } from "../load.ts";
import { Tabs } from "../parts/tabs.tsx";
import { Title } from "../parts/title.tsx";
import { Decide } from "./decide.tsx";

/** The page. */
export function PlaygroundPage() {
  const chat = useChat();
  const { value, problem } = useLoad<Listing<DecisionChoice>>("/decision-models");
  const decisions = value.value?.data ?? [];
  // Loaded before anything is typed, since input would be lost when the tabs appear.
  const isKnown = value.value !== undefined || problem.value !== undefined;
  const clear = (
    <button type="button" disabled={chat.messages.value.length === 0} onClick={chat.clear}>
      Clear
    </button>
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
