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
  // Known before anything is typed: what is typed would go when the tabs come.
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
          names={["Chat", "Decisions"]}
          panel={(index) => (
            <>
              {/* Both stay: what was typed or said must not go with a change of the tab. */}
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
