// Who runs the tools of a request: the gateway, or a provider that has them.

import { ApiError } from "../../../base/errors.ts";
import type { WebToolKind } from "../../../chat/server-tools.ts";
import { dialectFor } from "../../../upstream/dialect-choice.ts";
import type { Provider } from "../../../upstream/provider.ts";
import type { ChatTurn } from "../../centre/stage.ts";
import type { ChatToolsDeps, ToolWish } from "./deps.ts";
import { hasSearch } from "./vendor-search.ts";
import { kindOf, SEARCH_MEMBER, wishesOf } from "./wishes.ts";

/** The tools of a request. Those that a provider of the client's own protocol runs are in neither list. */
export interface DividedWishes {
  /** Those that the gateway runs. */
  readonly own: readonly ToolWish[];
  /** Those that providers of other protocols run. */
  readonly theirs: readonly ToolWish[];
}

const NONE: DividedWishes = { own: [], theirs: [] };

/** Divides the tools of a request. Throws 400 for a tool that nobody runs. */
export function dividedWishes(deps: ChatToolsDeps, turn: ChatTurn): DividedWishes {
  const { chat, model, routes, format } = turn;
  const settings = deps.toolSettings();
  const wishes = wishesOf(turn, settings.maxUses);
  if (wishes.length === 0) return NONE;
  const called = routes.flatMap((route) => {
    const provider = deps.provider(route.provider);
    return provider === undefined ? [] : [dialectFor(provider, route, chat, format.dialect)];
  });
  const isRelayed = ({ dialect, quirks }: Provider) => dialect.name === format.dialect && quirks.web_search === true;
  const own: ToolWish[] = [];
  const theirs: ToolWish[] = [];
  for (const wish of wishes) {
    const mode = wish.kind === "web_search" ? settings.webSearch : settings.webFetch;
    const runs = (provider: Provider) => isRelayed(provider) || hasSearch(provider, wish, turn);
    // Where only some have it, the gateway answers for all of them.
    const isTheirs = called.length > 0 && mode !== "own" && (mode === "off" ? called.some(runs) : called.every(runs));
    if (isTheirs) {
      if (!called.every(isRelayed)) theirs.push(wish);
    } else if (mode !== "off") own.push(wish);
    else throw refused(turn, wish.kind, "No provider of this model runs it, and this gateway does not either.");
  }
  if (own.length > 0 && !model.supportsTools) {
    throw new ApiError("tools_not_supported", `The model "${model.id}" cannot call tools.`, { param: paramOf(turn) });
  }
  if (own.length > 0 && (chat.n ?? 1) > 1) {
    throw refused(turn, own[0]!.kind, "It can only be used for one answer at a time.");
  }
  return { own, theirs };
}

function paramOf({ chat, format }: ChatTurn): string {
  return chat.tools.some((tool) => kindOf(tool, format) !== undefined) ? "tools" : SEARCH_MEMBER;
}

function refused(turn: ChatTurn, kind: WebToolKind, why: string): ApiError {
  const param = paramOf(turn);
  return new ApiError("unsupported_parameter", `Unsupported '${param}': the tool ${kind}. ${why}`, { param });
}
