// A conversation with two models: each question once, and both answers beside each other, each with its own requests,
// tokens, cost and times.

import { Empty } from "../parts/notice.tsx";
import type { Message } from "./conversation.ts";
import { type LaneView, LastTurn, MessageView, Waiting, waits } from "./messages.tsx";

/** A question, and what followed it until the next one. */
interface Round {
  readonly question: Message;
  readonly rest: readonly Message[];
}

/** `count`: the messages before the comparison, which are shown once. */
export function ComparedTurns({ first, second, count }: { first: LaneView; second: LaneView; count: number }) {
  const shared = first.messages.slice(0, count);
  const rounds = roundsOf(first.messages.slice(count));
  const others = new Map(roundsOf(second.messages).map(({ question, rest }) => [question.id, rest]));
  if (first.messages.length === 0)
    return <Empty>No messages yet. Both models get each message, and both requests count.</Empty>;
  return (
    <>
      <h2 class="off-screen">Conversation</h2>
      <ol class="turns" aria-live="polite" aria-busy={first.isBusy || second.isBusy}>
        {shared.map((message) => (
          <li key={message.id}>
            <MessageView message={message} lane={first} />
          </li>
        ))}
        {rounds.map(({ question, rest }, index) => {
          const isLast = index === rounds.length - 1;
          return (
            <li key={question.id}>
              <MessageView message={question} lane={first} />
              <div class="lanes">
                <Answers lane={first} rest={rest} isLast={isLast} name="results" />
                <Answers lane={second} rest={others.get(question.id) ?? []} isLast={isLast} name="results-2" />
              </div>
            </li>
          );
        })}
      </ol>
    </>
  );
}

function Answers(props: { lane: LaneView; rest: readonly Message[]; isLast: boolean; name: string }) {
  const { lane, rest, isLast, name } = props;
  return (
    <div class="lane">
      {rest.map((message) => (
        <MessageView key={message.id} message={message} lane={lane} />
      ))}
      {isLast && waits(lane) && <Waiting />}
      {isLast && <LastTurn lane={lane} name={name} />}
    </div>
  );
}

function roundsOf(messages: readonly Message[]): Round[] {
  const rounds: { question: Message; rest: Message[] }[] = [];
  for (const message of messages) {
    if (message.role === "user") rounds.push({ question: message, rest: [] });
    else rounds.at(-1)?.rest.push(message);
  }
  return rounds;
}
