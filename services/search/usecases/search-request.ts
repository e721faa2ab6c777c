import type { JsonObject } from '../../common/kernel/json.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import type { TimeView } from '../hygiene/time-view.ts';
import type { SearchType } from '../search-types.ts';

/** Where to look. Ids win over names; neither means every dataset the caller may read. */
export interface DatasetChoice {
  readonly ids?: readonly string[];
  readonly names?: readonly string[];
}

/** A search as every route asks for it. */
export interface SearchRequest {
  readonly principal: Principal;
  readonly context: CallContext;
  readonly query: string;
  readonly type: SearchType;
  readonly datasets: DatasetChoice;
  /** Null: the type's own default. */
  readonly topK: number | null;
  /** The session that it is a turn of; null: the one that its dataset has for whoever names none. */
  readonly sessionId: string | null;
  readonly systemPrompt: string | null;
  readonly nodeSets: readonly string[] | undefined;
  /** The context that an answer would be made from, instead of the answer. */
  readonly onlyContext: boolean;
  readonly includeReferences: boolean;
  /** Adds to results why they were found. */
  readonly explain: boolean;
  /** Which statements it is told; absent: those that hold now. */
  readonly view?: TimeView;
  /** What improve has built over the dataset; nothing of it counts unless it is asked for. */
  readonly structure?: StructureWish;
  /** Completions answer with an object of this schema. */
  readonly responseSchema: ResponseSchema | null;
  /** AGENTIC_COMPLETION: what it may use, and for how many steps; null: its own defaults. */
  readonly agent?: AgentWish;
  /** Told of what each call of a model took. */
  readonly onUsage?: NonNullable<ModelCallContext['onUsage']>;
  /** Told of the answer while it is being written. */
  readonly listener?: AnswerListener;
}

export interface AgentWish {
  /** Names of skills of the dataset; null: those that fit a question which asks for one. */
  readonly skills: readonly string[] | null;
  /** Names of tools; null: all there are. */
  readonly tools: readonly string[] | null;
  readonly maxIter: number | null;
}

export interface StructureWish {
  /** HYBRID_COMPLETION prefers passages that stand where learnings and query point. */
  readonly truth: boolean;
  /** Completions over the graph are shown summaries of the dataset and of the parts that are like the query. */
  readonly globalContext: boolean;
}

export interface ResponseSchema {
  readonly name: string;
  readonly schema: JsonObject;
}

export interface AnswerListener {
  /** A model is about to be asked. */
  generating(): void;
  /** The next piece of the answer. */
  delta(text: string): void;
  /** All pieces were told. */
  answerDone(): void;
  /** The pieces that were told are no answer after all. */
  reset(): void;
}

/** More results than this are not ranked by any store. */
export const MAX_TOP_K = 1000;
