// What the tools that the gateway runs within a chat need from the rest of the program, and what they share.

import type { Clock } from "../../../base/clock.ts";
import type { ChatRequest } from "../../../chat/request.ts";
import type { ServerToolKind } from "../../../chat/server-tools.ts";
import type { Config } from "../../../config/schema.ts";
import type { Provider } from "../../../upstream/provider.ts";
import type { Caller } from "../../admission/caller.ts";
import type { TurnExchange } from "../../centre/stage.ts";
import type { Sealer } from "../compaction/seal.ts";

/** For whom a tool works. */
export interface ToolCaller {
  readonly caller: Caller;
  readonly exchange: Pick<TurnExchange, "requestId" | "span">;
  readonly signal: AbortSignal;
}

/** The web endpoints, admitted and counted as a call of the same key. Both reject with `ApiError`. */
export interface ChatWebTools {
  search(query: string, by: ToolCaller): Promise<readonly WebHit[]>;
  fetch(url: string, by: ToolCaller): Promise<WebHit>;
}

/** A page that was found or read. */
export interface WebHit {
  readonly url: string;
  readonly title: string;
  readonly text: string;
}

/** What the stage needs. */
export interface ChatToolsDeps {
  toolSettings(): Config["chatTools"];
  sealer: Sealer;
  readonly web: ChatWebTools;
  provider(name: string): Provider | undefined;
  clock: Clock;
}

/** A tool that a request asks for, and its limits. */
export interface ToolWish {
  readonly kind: ServerToolKind;
  /** Its name in the client's blocks. */
  readonly shown: string;
  /** The name of the function that the model gets. */
  readonly name: string;
  readonly maxUses: number;
  readonly allowed: readonly string[];
  readonly blocked: readonly string[];
  /** Where the user is, in words. */
  readonly place: string | undefined;
  /** Characters of each page that the model gets. */
  readonly pageChars: number;
}

/** A page as the model was given it. Its number is unique in the conversation. */
export interface GivenPage {
  readonly n: number;
  readonly url: string;
  readonly title: string;
  readonly text: string;
}

/** A message list that grows. */
export type ChatMessages = ChatRequest["messages"];
