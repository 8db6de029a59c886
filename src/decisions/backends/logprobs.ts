// Reads log probabilities of any chat model that returns them. The model is asked for one letter, one question in each call, with
// the options in several orders so that position biases cancel out. If there are more options than letters, they are asked in
// groups, each with "none of these", followed by a final among the best of all groups; or, if the engine can score given tokens,
// all at once.

import { systemClock } from "../../base/clock.ts";
import { sha256Hex } from "../../base/ids.ts";
import type { Usage } from "../../chat/event.ts";
import type { ChatRequest } from "../../chat/request.ts";
import type { StoredPrior } from "../../store/decisions/decisions.ts";
import { countAllTokens } from "../../tokens/count.ts";
import { type Observation, observationOf, softmax } from "../calibration/calibration.ts";
import { type Question, textOfContent } from "../questions.ts";
import { isFormer } from "../revision.ts";
import {
  type BackendAnswer,
  type ChatCallResult,
  type DecisionBackend,
  type DecisionRoute,
  type DecisionTask,
  inParallel,
  NonsenseAnswer,
  outputOf,
  totalUsage,
  type Upstream,
} from "./backend.ts";
import { type TokenLabel, wholeLabels } from "./chosen.ts";
import { batches } from "./distribution.ts";
import { type AskedGroup, finalistsOf, joinGroups } from "./groups.ts";
import { chosenScores, type LabelScores, labelScores } from "./labels.ts";
import { legacyJoin } from "./legacy-revision.ts";
import { ordersOf, sorted } from "./orders.ts";
import { CONTENT_FREE, Priors } from "./prior.ts";
import { LETTERS, letterPrompt } from "./prompt.ts";

/** The maximum number of alternatives for each token at OpenAI and vLLM. */
const TOP_LOGPROBS = 20;
/** The size of a group. It leaves room for "none of these", and for letters that occur twice among the alternatives. */
const GROUP_MAX = 16;
/** Caches of prompts begin at about a thousand tokens. For a shorter state, waiting for the first call does not pay. */
const WARM_CHARACTERS_MIN = 4000;

/**
 * The limits of this backend: `top_logprobs` is the maximum number of alternatives that the engine shows, `chosen_tokens` how
 * many given tokens it can score in one call. Both are part of the version.
 */
export const logprobs: DecisionBackend = {
  kind: "logprobs",
  asText: true,
  readsLogprobs: true,
  limitsDecide: true,
  calibrationOf: ({ prior }) => (prior === "content_free" ? "prior" : "none"),
  hashed: ({ prior }) => (prior === "content_free" ? { prior } : {}),
  async answer(task, upstream) {
    const asked = new Asking(task, upstream);
    const jobs = task.questions.map((given) => async () => {
      const { question, restore } = sorted(given);
      return restore(await asked.readingsOf(question));
    });
    const readings = await inParallel(jobs, task.spec.concurrency);
    return asked.gathered(readings);
  },
};

interface Look {
  readonly order: readonly number[];
  readonly orNone?: boolean;
  readonly labels?: readonly TokenLabel[] | undefined;
  /** Whether the state is left out, to read the model's answer from the options alone. */
  readonly stateless?: boolean;
}

/** The calls of one request, which are counted and limited together. */
class Asking {
  readonly #task: DecisionTask;
  readonly #upstream: Upstream;
  readonly #top: number;
  readonly #slots: Slots;
  readonly #priors: Priors;
  /** How the priors of the request's questions fared. */
  readonly #prior = { calls: 0, missing: 0, grouped: 0 };
  #priorFailed = false;
  /** The prompts of priors that were sent and not answered yet. */
  readonly #unanswered = new Set<ChatRequest["messages"]>();
  #mass = 1;
  #capped: number | undefined;
  readonly #usage: (Usage | undefined)[] = [];
  #last: ChatCallResult | undefined;
  #labels: Promise<readonly TokenLabel[]> | undefined;

  constructor(task: DecisionTask, upstream: Upstream) {
    this.#task = task;
    this.#upstream = upstream;
    this.#top = Math.min(LETTERS, task.spec.limits["top_logprobs"] ?? TOP_LOGPROBS);
    const cold = textOfContent(task.state).length >= WARM_CHARACTERS_MIN;
    this.#slots = new Slots(task.spec.concurrency, cold);
    this.#priors = task.priors ?? new Priors({ clock: systemClock });
  }

  /** All readings of a question. */
  async readingsOf(question: Question): Promise<Observation[]> {
    const count = question.options.length;
    const all = Array.from({ length: count }, (_, option) => option);
    // Two letters can be told apart even with few alternatives, since a letter that is not shown has an upper bound.
    if (count <= Math.max(2, this.#top)) return this.#looks(question, all);
    const labels = await this.#labelsFor(count);
    if (labels !== undefined) return this.#looks(question, all, labels);
    this.#prior.grouped += 1;
    return [observationOf(await this.#inGroups(question, all), this.#task.spec.revision)];
  }

  /** Labels of one token each, if the engine can score as many at once and its tokenizer has them. */
  async #labelsFor(count: number): Promise<readonly TokenLabel[] | undefined> {
    if (count > (this.#task.spec.limits["chosen_tokens"] ?? 0)) return undefined;
    this.#labels ??= wholeLabels(this.#upstream);
    const labels = await this.#labels;
    return labels.length < count ? undefined : labels.slice(0, count);
  }

  /** Makes one call. */
  async look(question: Question, look: Look): Promise<LabelScores> {
    const messages = this.#prompt(question, look);
    const scores = await this.#slots.run(() => this.#call(messages, look, this.#task.spec.minLabelMass));
    this.#mass = Math.min(this.#mass, scores.mass);
    this.#capped = scores.capped ?? this.#capped;
    return scores;
  }

  #prompt(question: Question, { order, orNone = false, labels, stateless = false }: Look): ChatRequest["messages"] {
    const state = stateless ? CONTENT_FREE : this.#task.state;
    return letterPrompt({ state, question, order, orNone, labels: labels?.map(({ text }) => text) });
  }

  /** Makes a call and reads the labels. Throws `NonsenseAnswer` if their total probability is below `least`. */
  #call(messages: ChatRequest["messages"], { order, orNone, labels }: Look, least: number): Promise<LabelScores> {
    const count = order.length + (orNone === true ? 1 : 0);
    const { revision } = this.#task.spec;
    return this.#upstream.chat(
      (route) => letterRequest(route, messages, this.#top),
      (answer) => {
        this.#last = answer;
        this.#usage.push(answer.result.usage);
        const read =
          labels === undefined
            ? labelScores(answer.result, { count, top: this.#top, revision })
            : chosenScores(
                answer.result,
                labels.map(({ text }) => text),
              );
        if (read.mass >= least) return read;
        throw new NonsenseAnswer(`The labels have a total probability of ${read.mass}.`);
      },
      { tokens: labels?.map(({ id }) => id) ?? [] },
    );
  }

  /**
   * The model's answers from the options without a state, in each order, after the calls with the state. Undefined if it could
   * not be made: the question is then answered without it, since no answer at all would be worse.
   */
  async #priorOf(
    question: Question,
    looks: readonly Look[],
    answered: Promise<unknown>,
  ): Promise<StoredPrior | undefined> {
    const { routes, revision } = this.#task.spec;
    const prompts = looks.map((look) => this.#prompt(question, { ...look, stateless: true }));
    const key = sha256Hex(JSON.stringify([this.#priors.modelsOf(routes), this.#top, revision, prompts]));
    const gaveUp = Promise.withResolvers<never>();
    // A call that is waited for no longer makes room for others.
    const call = (look: Look, at: number) => Promise.race([this.#stateless(prompts[at]!, look), gaveUp.promise]);
    const prior = this.#priors.of(key, () =>
      Promise.all(looks.map((look, at) => this.#slots.run(() => call(look, at), { optional: true }))),
    );
    // Both may fail before they are waited for, if a call with the state fails.
    for (const early of [prior, gaveUp.promise]) early.catch(() => undefined);
    await answered;
    const patience = setTimeout(() => {
      this.#priorFailed = true;
      gaveUp.reject(new Error("The prior took too long."));
    }, this.#priors.patienceMs);
    let made: StoredPrior | undefined;
    try {
      made = await Promise.race([prior, gaveUp.promise]);
    } catch (error) {
      if (error !== NOT_TRIED) {
        this.#priorFailed = true;
        this.#priors.failed(key, error);
      }
    } finally {
      clearTimeout(patience);
    }
    if (made === undefined) this.#prior.missing += 1;
    return made;
  }

  async #stateless(messages: ChatRequest["messages"], look: Look): Promise<readonly number[]> {
    // After a failure, the request's other questions would wait for the same one.
    if (this.#priorFailed) throw NOT_TRIED;
    this.#prior.calls += 1;
    this.#unanswered.add(messages);
    try {
      // Without a state, any answer is accepted.
      return (await this.#call(messages, look, 0)).logProbabilities;
    } finally {
      this.#unanswered.delete(messages);
    }
  }

  /** The usage of all calls. Those that are given up reached the upstream, whose report will not be read, so it is counted here. */
  #spent(): Usage | undefined {
    const givenUp = [...this.#unanswered].map((messages) => ({
      inputTokens: tokensOfPrompt(messages),
      outputTokens: 0,
    }));
    return totalUsage([...this.#usage, ...givenUp]);
  }

  gathered(readings: readonly (readonly Observation[])[]): BackendAnswer {
    const { route, result } = this.#last!;
    const fingerprint = result.raw?.["system_fingerprint"];
    return {
      readings,
      route,
      outputTokens: outputOf(this.#usage),
      spent: this.#spent(),
      labelMass: this.#mass,
      ...(this.#task.spec.prior === "content_free" ? { prior: { ...this.#prior } } : {}),
      ...(this.#capped === undefined ? {} : { capped: this.#capped }),
      ...(result.upstreamModel === undefined ? {} : { upstreamModel: result.upstreamModel }),
      ...(typeof fingerprint === "string" ? { fingerprint } : {}),
    };
  }

  async #looks(question: Question, options: readonly number[], labels?: readonly TokenLabel[]): Promise<Observation[]> {
    const looks = this.#orders(question, options).map((order) => ({ order, labels }));
    const calls = Promise.all(looks.map((look) => this.look(question, look)));
    const prior = this.#task.spec.prior === "content_free" ? this.#priorOf(question, looks, calls) : undefined;
    const [answers, given] = await Promise.all([calls, prior]);
    return answers.map(({ logProbabilities }, turn) => ({
      order: looks[turn]!.order,
      logProbabilities:
        given === undefined ? logProbabilities : logProbabilities.map((logP, at) => logP - given[turn]![at]!),
      labelled: true,
    }));
  }

  #orders({ type }: Question, options: readonly number[]): number[][] {
    const { orders: count, revision, turning = false } = this.#task.spec;
    return ordersOf(options, { type, count, revision, freely: turning });
  }

  /**
   * The probabilities of many options: each group is compared with "none of these", then the best of all groups with each other.
   * No prior is subtracted. Which options are in the final depends on the state, so that nearly every request would need a new
   * one, and the final decides.
   */
  async #inGroups(question: Question, all: readonly number[]): Promise<number[]> {
    const size = Math.max(2, Math.min(GROUP_MAX, this.#top - 1));
    // The groups have about equal size, since the option of a group of one would win for lack of rivals.
    const parts = batches(all, Math.ceil(all.length / Math.ceil(all.length / size)));
    const groups = await Promise.all(
      parts.map(async (options): Promise<AskedGroup> => {
        const shares = await this.#sharesOf(question, options, true);
        return { options, shares: shares.slice(0, -1), none: shares.at(-1)! };
      }),
    );
    const finalists = finalistsOf(groups, Math.max(2, this.#top));
    const shares = await this.#sharesOf(question, finalists);
    const final = new Map(finalists.map((option, at) => [option, shares[at]!]));
    return isFormer(this.#task.spec) ? legacyJoin(groups, final) : joinGroups(groups, final);
  }

  /** The probability of each option among these, over all orders. With `orNone`, the last one is "none of these". */
  async #sharesOf(question: Question, options: readonly number[], orNone = false): Promise<number[]> {
    const orders = this.#orders(question, options);
    const looks = await Promise.all(orders.map((order) => this.look(question, { order, orNone })));
    const scores = new Map<number, number>(options.map((option) => [option, 0]));
    let none = 0;
    looks.forEach(({ logProbabilities }, at) => {
      orders[at]!.forEach((option, place) => {
        scores.set(option, scores.get(option)! + logProbabilities[place]! / looks.length);
      });
      none += logProbabilities.at(-1)! / looks.length;
    });
    return softmax(orNone ? [...scores.values(), none] : [...scores.values()]);
  }
}

function tokensOfPrompt(messages: ChatRequest["messages"]): number {
  return countAllTokens(
    messages.flatMap(({ content }) => content.flatMap((part) => (part.type === "text" ? [part.text] : []))),
  );
}

/** The reason why a prior is missing after that of another question has failed. */
const NOT_TRIED = new Error("The prior was not tried.");

/** A request for one token with its most probable alternatives. */
export function letterRequest(route: DecisionRoute, messages: ChatRequest["messages"], top: number): ChatRequest {
  return {
    model: route.model,
    messages,
    stream: false,
    includeUsage: false,
    tools: [],
    maxTokens: 1,
    temperature: 0,
    logprobs: true,
    topLogprobs: top,
    extra: {},
  };
}

/**
 * Limits the number of concurrent calls. Calls that wait do not start after one has failed. `cold`: the first call runs alone, so
 * that the others can use its cached prefix.
 */
class Slots {
  #failure: { readonly error: unknown } | undefined;
  #free: number;
  #held: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number, cold: boolean) {
    this.#free = cold ? 1 : count;
    this.#held = count - this.#free;
  }

  /** Runs a call. Its failure ends all others, unless it is optional. */
  async run<T>(work: () => Promise<T>, { optional = false } = {}): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      if (this.#failure !== undefined) throw this.#failure.error;
      return await work();
    } catch (error) {
      if (!optional) this.#failure ??= { error };
      throw error;
    } finally {
      this.#free += 1 + this.#held;
      this.#held = 0;
      while (this.#free > 0 && this.#waiting.length > 0) {
        this.#free -= 1;
        this.#waiting.shift()!();
      }
    }
  }
}
