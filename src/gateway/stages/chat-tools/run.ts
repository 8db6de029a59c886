// The tools of one request, the gateway's own and those of MCP servers: the model gets functions in place of them, calls are run between rounds, and the model is asked again
// with what they gave, until it has no more calls, calls a tool of the client, or may not be asked again.

import type { AtOnce } from "../../../base/at-once.ts";
import { isoTime } from "../../../base/iso-time.ts";
import { isRecord } from "../../../base/json-object.ts";
import type { ChatEvent } from "../../../chat/event.ts";
import type { ChatRequest, Tool, ToolChoice } from "../../../chat/request.ts";
import type { ServerToolKind, ServerToolOutput, WebToolKind } from "../../../chat/server-tools.ts";
import { type FaultKind, UpstreamFault } from "../../../upstream/fault.ts";
import type { WireFormat } from "../../../wire/format.ts";
import type {
  BetweenRounds,
  Change,
  ChatTurn,
  FailedCall,
  Hearing,
  Round,
  StageRun,
  Target,
} from "../../centre/stage.ts";
import { historyParam } from "../../rules/policy.ts";
import { refusesReasoning } from "../reasoning/refused-reasoning.ts";
import { knownAddresses, normal } from "./addresses.ts";
import { argumentsOf, type Ran, runTool } from "./call.ts";
import { CallMemory } from "./call-memory.ts";
import type { ChatMcpTool, ChatMessages, ChatToolsDeps, GivenPage, ToolCaller, ToolWish } from "./deps.ts";
import { dividedWishes } from "./divided-wishes.ts";
import { isAsked, isShown, type OwnCall, type ToolsState, toolHearing } from "./hear.ts";
import {
  CALLS_SPENT,
  callMcp,
  functionOfMcp,
  MCP_CALLS_MAX,
  type McpPlan,
  mcpPlanOf,
  meantBy,
  shownOutput,
} from "./mcp.ts";
import { openToolHistory } from "./open-history.ts";
import { contentOf, freed, resultOfCall, toldIn } from "./round-parts.ts";
import { PageSeals } from "./seals.ts";
import { failureText, functionOf, pagesText, saidText } from "./told.ts";
import { VendorHearing, withVendorTools } from "./vendor-search.ts";
import { kindNamed, kindOf, SEARCH_MEMBER } from "./wishes.ts";

const WHY = "chat-tools";

/** Creates the function that opens the stage for a request. */
export function createToolsOpener(deps: ChatToolsDeps): (turn: ChatTurn) => StageRun | undefined {
  const memory = new CallMemory(deps.clock);
  return (turn) => {
    const { own: wishes, theirs } = dividedWishes(deps, turn);
    const mcp = mcpPlanOf(deps, turn);
    const seals = new PageSeals(deps.sealer, turn.caller.accountId);
    const names = new Map(wishes.map(({ kind, name }) => [kind, name]));
    const param = historyParam(turn.body) ?? turn.format.turns;
    const history = openToolHistory(turn.chat.messages, { seals, param, names, mcp: mcp?.history });
    const opened = (list: ChatMessages): ChatMessages =>
      openToolHistory(list, { seals, param, names, mcp: mcp?.historyOf(list) })?.messages ?? list;
    const messages = history?.messages ?? turn.chat.messages;
    if (mcp?.isWanted === false) mcp.declineApproved();
    if (wishes.length + theirs.length > 0 || mcp?.isWanted === true) {
      const known = history?.pages ?? [];
      return new ToolsRun(deps, { wishes, theirs, mcp, memory, seals, messages, opened, known, format: turn.format });
    }
    if (history === undefined) return undefined;
    return {
      prepare: ({ chat }) => ({ why: WHY, chat: { ...chat, messages }, members: undefined }),
      adapt: ({ chat, isShortenable }) =>
        isShortenable === true ? { why: WHY, chat: { ...chat, messages: opened(chat.messages) } } : undefined,
    };
  };
}

interface RunStart {
  readonly wishes: readonly ToolWish[];
  /** Those that a provider of another protocol runs. */
  readonly theirs: readonly ToolWish[];
  readonly mcp: McpPlan | undefined;
  readonly memory: CallMemory;
  readonly format: WireFormat;
  readonly seals: PageSeals;
  /** The conversation, with the results in its history opened. */
  readonly messages: ChatMessages;
  /** Opens those of another list, which is shorter. */
  opened(messages: ChatMessages): ChatMessages;
  readonly known: readonly GivenPage[];
}

/** Refusals of a request, which may be about any part of it. */
const ABOUT_REQUEST: ReadonlySet<FaultKind> = new Set(["bad_request", "context_length"]);

/** Why an answer ended in the middle, so that its calls are not complete. */
const CUT_SHORT: ReadonlySet<string> = new Set(["length", "content_filter", "refusal", "context_window"]);

class ToolsRun implements StageRun {
  readonly #deps: ChatToolsDeps;
  readonly #start: RunStart;
  readonly #state: ToolsState;
  #number: number;
  /** Whether the model gets the tools that the client does not know of. */
  #givesHidden = true;
  /** Whether the conversation has calls of such tools. */
  #hasHiddenCalls = false;
  /** Rounds in which no model was asked. */
  #ownRounds = 0;
  /** The request as it was prepared last, and the messages of the rounds before it. */
  #last: ChatRequest | undefined;
  #added: ChatMessages = [];
  /** What came of calls that the client has approved, by their ids. */
  #approvedTexts: ReadonlyMap<string, string> = new Map();

  constructor(deps: ChatToolsDeps, start: RunStart) {
    this.#deps = deps;
    this.#start = start;
    const { wishes, known, seals, format } = start;
    const mcp = format.mcp?.();
    this.#state = {
      tools: new Map(wishes.map((wish) => [wish.name, wish])),
      told: [],
      asks:
        mcp?.asked && ((id, call) => ({ type: "opaque", choice: 0, origin: mcp.origin, value: mcp.asked!(id, call) })),
      pages: new Map(known.map((page) => [page.n, { ...page, sealed: seals.cited(page.n) }])),
      calls: new Map(),
      uses: new Map(),
    };
    this.#number = known.reduce((most, { n }) => Math.max(most, n), 0);
  }

  prepare(turn: ChatTurn): AtOnce<Change> {
    const { mcp } = this.#start;
    return mcp?.isWanted === true ? this.#withServers(mcp, turn) : this.#prepared(turn);
  }

  async #withServers(mcp: McpPlan, turn: ChatTurn): Promise<Change> {
    const { tools, told } = await mcp.tools(turn.asker.leaving());
    for (const tool of tools) this.#state.tools.set(tool.name, tool);
    this.#state.told = told;
    const change = this.#prepared({ ...turn, chat: { ...turn.chat, ...mcp.without(turn.chat) } });
    return mcp.hasApproved ? { ...change, awaitsCalls: true } : change;
  }

  #prepared({ chat, format, body }: Pick<ChatTurn, "chat" | "format" | "body">): Change {
    const { wishes, messages } = this.#start;
    const { [SEARCH_MEMBER]: member, tool_choice: choice, ...others } = chat.extra;
    // Without a wish of its own, it is the provider's.
    const isKept = member !== undefined && !wishes.some(({ kind }) => kind === "web_search");
    const rest = isKept ? { ...others, [SEARCH_MEMBER]: member } : others;
    const named = choice === undefined ? chat.toolChoice : this.#serverChoice(choice, format);
    const { toolChoice: _choice, ...plain } = chat;
    const toolChoice = named && this.#choice(named, { tools: chat.tools, format, body });
    const isOurs = (tool: Tool) => wishes.some(({ kind }) => kind === kindOf(tool, format));
    this.#last = {
      ...plain,
      messages,
      tools: [
        ...chat.tools.filter((tool) => !isOurs(tool)),
        ...wishes.map(functionOf),
        ...this.#servers().map(functionOfMcp),
      ],
      ...(toolChoice === undefined ? {} : { toolChoice }),
      extra: choice !== undefined && named === undefined ? { ...rest, tool_choice: choice } : rest,
    };
    return {
      why: WHY,
      chat: this.#last,
      members: undefined,
      ownTools: this.#ownTools(this.#deps.toolSettings().maxRounds <= 1),
    };
  }

  readonly hears = ({ format }: ChatTurn): Hearing => {
    const hearing = toolHearing(this.#state);
    const { theirs, seals } = this.#start;
    if (theirs.length === 0) return hearing;
    const below = new VendorHearing(format.dialect, { seals, nextNumber: () => ++this.#number });
    return { hear: (event) => below.hear(event).flatMap((one) => hearing.hear(one) as readonly ChatEvent[]) };
  };

  /** Tools that a provider runs are in its own form. Those that the client does not know of are left out if they were refused. */
  adapt(turn: ChatTurn, { provider }: Target): Change | undefined {
    const { theirs } = this.#start;
    const own = turn.isShortenable === true ? this.#afterShortening(turn) : turn;
    const { chat } = theirs.length === 0 ? own : withVendorTools(own, theirs, provider);
    if (this.#givesHidden) return chat === turn.chat ? undefined : { why: WHY, chat };
    const tools = chat.tools.filter((tool) => tool.type === "server" || !this.#isHidden(tool.name));
    const { toolChoice, ...plain } = chat;
    const isKept = toolChoice !== undefined && tools.length > 0;
    return { why: WHY, chat: { ...plain, tools, ...(isKept ? { toolChoice } : {}) } };
  }

  /** The client could not make anything of a refusal that is about tools which it does not know of. */
  again(_turn: ChatTurn, { error }: FailedCall): Change | undefined {
    // Refused reasoning is left out by another stage.
    const isRefused = error instanceof UpstreamFault && ABOUT_REQUEST.has(error.kind) && !refusesReasoning(error);
    if (!isRefused || !this.#givesHidden || this.#hasHiddenCalls) return undefined;
    if (!this.#servers().some(({ isHidden }) => isHidden)) return undefined;
    this.#givesHidden = false;
    return { why: WHY };
  }

  /** A conversation that was shortened was read anew from what the client sent: it gets all that was done to it again. */
  #afterShortening(turn: ChatTurn): ChatTurn {
    const last = this.#last;
    if (last === undefined || turn.chat.tools === last.tools) return turn;
    const { toolChoice: _choice, ...plain } = turn.chat;
    const { tools, extra, toolChoice } = last;
    const read = this.#start.opened(plain.messages).map((message) => toldIn(message, this.#approvedTexts));
    const chosen = toolChoice === undefined ? {} : { toolChoice };
    return { ...turn, chat: { ...plain, messages: [...read, ...this.#added], tools, extra, ...chosen } };
  }

  #isHidden(name: string): boolean {
    const tool = this.#state.tools.get(name);
    return tool?.kind === "mcp" && tool.isHidden;
  }

  #servers(): ChatMcpTool[] {
    return [...this.#state.tools.values()].filter((tool) => tool.kind === "mcp");
  }

  async next(turn: ChatTurn, round: Round, between: BetweenRounds): Promise<Change | undefined> {
    const { chat, caller, exchange } = turn;
    if (turn.awaitsCalls === true) return this.#approved(turn, between);
    const { maxRounds } = this.#deps.toolSettings();
    const called = round.calls.flatMap((call) => {
      const own = this.#state.calls.get(call.callId);
      return own === undefined || call.kind !== "function" ? [] : [{ call, own }];
    });
    if (called.length === 0) return undefined;
    const asked = round.index - this.#ownRounds + 1;
    const mayRun = !CUT_SHORT.has(round.message.reason) && asked < maxRounds;
    const addresses = knownAddresses(chat.messages);
    const isKnown = (url: string) => addresses.has(normal(url));
    const by = { caller, exchange, signal: between.signal };
    const made = called.filter(({ own }) => !isAsked(own));
    // The client's calls are for it to answer, and some of the others for it to approve.
    const goesOn = mayRun && made.length === round.calls.length;
    const results = await Promise.all(
      made.map(async ({ own }) => {
        const { output, text } =
          own.tool.kind === "mcp"
            ? // Nobody would learn what came of a call that the client does not see.
              await this.#callMcp(own, own.tool, { mayRun: isShown(own) ? mayRun : goesOn, by })
            : await this.#runWeb(own, own.tool, { mayRun, by, isKnown });
        if (isShown(own)) between.emit({ type: "server-tool-result", choice: 0, id: own.block, output });
        return resultOfCall(own, text);
      }),
    );
    const owns = new Map(called.map(({ call, own }) => [call.callId, own]));
    this.#state.calls.clear();
    if (!goesOn) return undefined;
    const content = round.message.blocks.flatMap((block) => contentOf(block, owns));
    const added: ChatMessages = [
      { role: "assistant", content },
      { role: "tool", content: results },
    ];
    this.#added = [...this.#added, ...added];
    const messages = [...chat.messages, ...added];
    this.#hasHiddenCalls ||= called.some(({ own }) => this.#isHidden(own.tool.name));
    const isLast = asked + 1 >= maxRounds;
    const further = { ...this.#nextChat(chat, isLast), messages };
    this.#last = further;
    return { why: WHY, chat: further, members: undefined, ownTools: this.#ownTools(isLast) };
  }

  /** Makes the calls that the client has approved. */
  async #approved({ chat, caller, exchange }: ChatTurn, { signal, emit }: BetweenRounds): Promise<Change> {
    const { mcp, memory } = this.#start;
    this.#ownRounds = 1;
    const mayCall = () => this.#use("mcp", MCP_CALLS_MAX);
    const made = await mcp!.approved(this.#servers(), { caller, exchange, signal }, { mayCall, memory });
    for (const event of [...this.#state.told, ...made.events]) emit(event);
    this.#state.told = [];
    this.#approvedTexts = made.texts;
    this.#last = { ...chat, messages: chat.messages.map((message) => toldIn(message, made.texts)) };
    return { why: WHY, chat: this.#last, members: undefined, awaitsCalls: undefined };
  }

  /** The functions whose calls are run. Those of the last round are not. */
  #ownTools(isLast: boolean): ReadonlySet<string> | undefined {
    return isLast ? undefined : new Set(this.#state.tools.keys());
  }

  async #runWeb(
    own: OwnCall,
    tool: ToolWish,
    { mayRun, by, isKnown }: { mayRun: boolean; by: ToolCaller; isKnown(url: string): boolean },
  ) {
    const code = !mayRun ? "unavailable" : this.#use(tool.kind, tool.maxUses) ? undefined : "max_uses_exceeded";
    const ran: Ran =
      code === undefined ? await runTool(tool, argumentsOf(own.text), { web: this.#deps.web, by, isKnown }) : { code };
    return this.#result(own.callId, tool.kind, ran);
  }

  async #callMcp(own: OwnCall, tool: ChatMcpTool, { mayRun, by }: { mayRun: boolean; by: ToolCaller }) {
    const said = !mayRun
      ? { text: "The call was not made, since the answer ends here.", isError: true }
      : this.#use("mcp", MCP_CALLS_MAX)
        ? await callMcp(tool, argumentsOf(own.text), by)
        : CALLS_SPENT;
    return { output: shownOutput(said), text: saidText(said) };
  }

  /** Counts a use; whether it is allowed. */
  #use(kind: ServerToolKind, usesMax: number): boolean {
    const used = this.#state.uses.get(kind) ?? 0;
    if (used >= usesMax) return false;
    this.#state.uses.set(kind, used + 1);
    return true;
  }

  #result(callId: string, kind: WebToolKind, ran: Ran): { output: ServerToolOutput; text: string } {
    if ("code" in ran) return { output: { type: "error", code: ran.code }, text: failureText(kind, ran.code) };
    const { seals } = this.#start;
    const pages = ran.hits.map((hit): GivenPage => ({ n: ++this.#number, ...hit }));
    for (const page of pages) this.#state.pages.set(page.n, { ...page, sealed: seals.cited(page.n) });
    const found = pages.map((page) => seals.found(callId, page));
    const text = pagesText(pages);
    const [page] = found;
    if (kind === "web_search" || page === undefined) {
      return { output: { type: "pages", pages: found, sealed: seals.all(callId, pages) }, text };
    }
    const retrievedAt = isoTime(this.#deps.clock.now());
    return { output: { type: "page", page, text: pages[0]!.text, retrievedAt }, text };
  }

  /** The request of a further round. The last one is asked without the tools. */
  #nextChat(chat: ChatRequest, isLast: boolean): ChatRequest {
    const { toolChoice, ...plain } = chat;
    const others = chat.tools.filter((tool) => tool.type === "server" || !this.#state.tools.has(tool.name));
    if (isLast && others.length === 0) return { ...plain, toolChoice: { type: "none" } };
    const tools = isLast ? others : chat.tools;
    // A call that was asked for has been made.
    const isKept = toolChoice?.type === "auto" || (toolChoice?.type === "allowed" && !isLast);
    return { ...plain, tools, ...(isKept ? { toolChoice: freed(toolChoice) } : {}) };
  }

  /** A choice that names a tool, with the name of its function. */
  #choice(
    choice: ToolChoice,
    { tools, format, body }: { tools: readonly Tool[] } & Pick<ChatTurn, "format" | "body">,
  ): ToolChoice {
    const named = firstByEachName(tools);
    const nameOf = (name: string) => {
      const tool = named.get(name);
      const kind = tool === undefined ? kindNamed(name, format) : kindOf(tool, format);
      return this.#start.wishes.find((wish) => wish.kind === kind)?.name ?? name;
    };
    if (choice.type === "tool") return { ...choice, name: nameOf(choice.name) };
    if (choice.type !== "allowed") return choice;
    const names = choice.names.flatMap((name) => (name === "mcp" ? [] : [nameOf(name)]));
    if (choice.names.includes("mcp")) names.push(...this.#allowedOfServers(body["tool_choice"]));
    return names.length === 0 ? { type: "none" } : { ...choice, names };
  }

  /** The tools of servers that a choice allows, as the Responses API writes it. */
  #allowedOfServers(choice: unknown): string[] {
    const listed: unknown = isRecord(choice) ? choice["tools"] : undefined;
    const entries = Array.isArray(listed) ? listed.filter(isRecord).filter(({ type }) => type === "mcp") : [];
    return meantBy(entries, this.#servers()).map(({ name }) => name);
  }

  /** The choice of a tool that servers run, as the Responses API writes it. */
  #serverChoice(choice: unknown, format: WireFormat): ToolChoice | undefined {
    if (!isRecord(choice) || typeof choice["type"] !== "string") return undefined;
    const { type } = choice;
    if (type !== "mcp") return kindNamed(type as string, format) && { type: "tool", name: type as string };
    const names = meantBy([choice], this.#servers()).map((tool) => tool.name);
    const [first] = names;
    if (first === undefined) return undefined;
    return names.length === 1 ? { type: "tool", name: first } : { type: "allowed", mode: "required", names };
  }
}

/** The first tool of each name, be it the name of its kind or its own. */
function firstByEachName(tools: readonly Tool[]): ReadonlyMap<unknown, Tool> {
  const first = new Map<unknown, Tool>();
  for (const tool of tools) {
    for (const name of tool.type === "server" ? [tool.name, tool.value["name"]] : [tool.name])
      if (!first.has(name)) first.set(name, tool);
  }
  return first;
}
