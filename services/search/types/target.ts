import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import type { Conversation, ConversationDependencies } from '../conversation/conversation.ts';
import type { QueryVector } from '../retrieval/gather-passages.ts';
import type { InfluenceWish } from '../retrieval/learned-weights.ts';
import type { AnsweredType } from '../search-types.ts';
import type { SkillIndex } from './skill-index.ts';

/** What the search types work with. */
export interface TypeDependencies extends ConversationDependencies {
  readonly messenger: Messenger;
  readonly skills: SkillIndex;
  /** Why there is no language model, when one is configured by halves. */
  readonly missingModelKey: string | null;
}

export interface SearchTarget {
  readonly dataset: DatasetRef;
  readonly type: AnsweredType;
  readonly vector: QueryVector;
  /** That the question is a turn of; completions alone know of it. */
  readonly conversation: Conversation | null;
  readonly influence: InfluenceWish;
}
