// Gives the answer that a stage made in place of an upstream, and that no stage hears. If a stream was requested, the client gets
// keepalives while it is made.

import { Stop } from "../../base/stop-signal.ts";
import { fold } from "../../chat/fold.ts";
import { asApiError } from "../../http/errors.ts";
import { answerCompleted, answerSettled, correctedFrames, correctedText, gatesOf, roundEnd } from "./answer.ts";
import { writerContext } from "./build.ts";
import type { GatewayDeps } from "./deps.ts";
import type { Answer, BodyMembers, ChatTurn, StageAnswer } from "./stage.ts";
import type { Prepared } from "./walk.ts";

/** How long the headers of a stream wait for the answer. */
const HEADERS_MS = 5000;

/** Answers with what a stage makes. */
export async function answerMade(
  deps: GatewayDeps,
  request: Request,
  { turn, runs, madeBy }: Prepared,
  { answer }: StageAnswer,
): Promise<Answer> {
  const above = runs.slice(0, madeBy);
  const stop = new Stop();
  const gates = gatesOf(above, turn, stop);
  const made = answer(gates === undefined ? request.signal : AbortSignal.any([request.signal, stop.platform]));
  const { exchange, format } = turn;
  const keep = (text: string, body: () => BodyMembers | undefined) =>
    answerCompleted(deps, above, {
      turn,
      target: undefined,
      usage: undefined,
      fault: undefined,
      text: () => text,
      body,
      hidesEncrypted: false,
    });
  const end = { turn, rounds: [roundEnd(turn, undefined, undefined)] };
  // An error is handled when the answer is read.
  made.catch(() => undefined);
  if (gates !== undefined) await gates;
  if (!turn.chat.stream) {
    const given = await made;
    const body = format.encode(fold([...given.events]), contextOf(turn, given));
    const text = JSON.stringify(body);
    const corrected = await keep(text, () => body);
    answerSettled(runs, end);
    return { text: corrected === undefined ? text : correctedText(text, corrected) };
  }
  // An answer that is made at once, as a record without a summary is, can still be named in the headers.
  await Promise.race([made.catch(() => undefined), Bun.sleep(HEADERS_MS)]);
  exchange.streaming = true;
  deps.streamOpened?.();
  let state: "waiting" | "writing" | "over" = "waiting";
  const settle = () => {
    if (state === "over") return;
    state = "over";
    deps.streamClosed?.();
    answerSettled(runs, end);
    exchange.finish(200);
  };
  return {
    keepalive: format.keepalive,
    source: {
      async next() {
        if (state === "waiting") {
          // The headers are sent with the first bytes, so from here on errors are part of the stream.
          state = "writing";
          return format.keepalive;
        }
        if (state === "over") return undefined;
        let writer = format.writer(writerContext(turn, undefined));
        try {
          const given = await made;
          const { events } = given;
          writer = format.writer(contextOf(turn, given));
          const text = events.map((event) => writer.push(event)).join("") + writer.end();
          const corrected = await keep(text, () => writer.answer);
          settle();
          return corrected === undefined ? text : correctedFrames(text, corrected);
        } catch (error) {
          exchange.log["error"] = asApiError(error).apiCode;
          settle();
          return writer.fail({ ...asApiError(error).body(), request_id: exchange.requestId });
        }
      },
      cancel: settle,
    },
  };
}

function contextOf(turn: ChatTurn, { edited, source }: Awaited<ReturnType<StageAnswer["answer"]>>) {
  const context = writerContext(edited === undefined ? turn : { ...turn, edited }, undefined);
  return source === undefined ? context : { ...context, source };
}
